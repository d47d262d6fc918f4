// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"

// ID tokens of OpenID Connect (a JWT that is signed, RFC 7515 and 7519): whether a provider has
// made one, for us, for this login, and now. All of a token is a stranger's until its signature was
// checked. Plain functions; any thread.
struct evp_pkey_st;  // OpenSSL's own

namespace gpufl::hosting {

// Base64 with "-" and "_", without padding. Nothing: it is none.
std::optional<std::string> decode_base64url(std::string_view text);
std::string encode_base64url(std::string_view bytes);

enum class SigningAlgorithm : uint8_t { Rs256, Es256 };

struct SigningKey {
  std::string id;  // may be empty
  SigningAlgorithm algorithm = SigningAlgorithm::Rs256;
  std::shared_ptr<evp_pkey_st> key;
};
// Those of a JWKS document (RFC 7517) that sign by RS256 or ES256; others are passed over. Corrupt:
// it is no such document, or has too many keys.
base::Result<std::vector<SigningKey>> parse_signing_keys(const base::Json& jwks);

// What a token has to say.
struct TokenRules {
  std::string issuer, client_id, nonce;
  int64_t now_s = 0;  // since 1970
};

struct TokenClaims {
  std::string subject;
  std::string email, username;  // empty: it does not say
  bool is_email_verified = false;
};

// NotFound: none of the keys is the one that the token names. PermissionDenied: it is none, or not
// for this login; with what is wrong.
base::Result<TokenClaims> check_id_token(std::string_view token,
                                         const std::vector<SigningKey>& keys,
                                         const TokenRules& rules);

}  // namespace gpufl::hosting
