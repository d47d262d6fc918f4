// SPDX-License-Identifier: Apache-2.0
#include "hosting/oidc_token.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <algorithm>
#include <utility>

#include "base/constant_time.hpp"
#include "base/json.hpp"

namespace gpufl::hosting {
namespace {

using base::Code;
using base::Json;
using base::Status;

constexpr size_t kLongestToken = size_t{64} << 10;
constexpr size_t kMostKeys = 100;
constexpr size_t kCoordinateBytes = 32;     // of P-256
constexpr size_t kMostModulusBytes = 1024;  // of RSA, whose cost grows with it
constexpr size_t kMostExponentBytes = 4;
constexpr int kLeastModulusBits = 2048;
constexpr size_t kLongestSubject = 255;
constexpr double kSkew_s = 60;  // between the provider's clock and ours

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

template <typename T, void (*kFree)(T*)>
struct Freed {
  void operator()(T* what) const { kFree(what); }
};
using Number = std::unique_ptr<BIGNUM, Freed<BIGNUM, BN_free>>;
using Context = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX, EVP_PKEY_CTX_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX, EVP_MD_CTX_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM, OSSL_PARAM_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG, ECDSA_SIG_free>>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Number number_of(std::string_view bytes) {
  return Number(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

Status wrong(std::string what) { return {Code::PermissionDenied, std::move(what)}; }

std::shared_ptr<EVP_PKEY> make_key(const char* type, OSSL_PARAM_BLD* builder) {
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder));
  const Context context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
    return nullptr;
  }
  return {key, EVP_PKEY_free};
}

std::shared_ptr<EVP_PKEY> rsa_key(const Json& json) {
  const auto modulus = decode_base64url(json["n"].as_string());
  const auto exponent = decode_base64url(json["e"].as_string());
  if (!modulus || !exponent || modulus->size() > kMostModulusBytes || exponent->empty() ||
      exponent->size() > kMostExponentBytes) {
    return nullptr;
  }
  const Number n = number_of(*modulus), e = number_of(*exponent);
  const Builder builder(OSSL_PARAM_BLD_new());
  if (!n || !e || !builder || BN_num_bits(n.get()) < kLeastModulusBits ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return nullptr;
  }
  return make_key("RSA", builder.get());
}

std::shared_ptr<EVP_PKEY> p256_key(const Json& json) {
  const auto x = decode_base64url(json["x"].as_string());
  const auto y = decode_base64url(json["y"].as_string());
  if (!x || !y || x->size() != kCoordinateBytes || y->size() != kCoordinateBytes) return nullptr;
  const std::string point = "\x04" + *x + *y;  // OpenSSL refuses one that is not on the curve
  const Builder builder(OSSL_PARAM_BLD_new());
  if (!builder ||
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1) {
    return nullptr;
  }
  return make_key("EC", builder.get());
}

bool may_sign(const Json& key, std::string_view algorithm) {
  const bool is_for_signing = key.find("use") == nullptr || key["use"].as_string() == "sig";
  return is_for_signing && (key.find("alg") == nullptr || key["alg"].as_string() == algorithm);
}

// As JOSE has it, two numbers of the same length, in the form that OpenSSL takes.
std::optional<std::string> der_of(std::string_view signature) {
  if (signature.size() != 2 * kCoordinateBytes) return std::nullopt;
  const Signature pair(ECDSA_SIG_new());
  Number r = number_of(signature.substr(0, kCoordinateBytes));
  Number s = number_of(signature.substr(kCoordinateBytes));
  if (!pair || !r || !s || ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return std::nullopt;
  (void)r.release();  // the pair has them now
  (void)s.release();
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &der);
  if (size <= 0) return std::nullopt;
  std::string text(reinterpret_cast<const char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return text;
}

bool is_signed(std::string_view text, std::string signature, const SigningKey& key) {
  if (key.algorithm == SigningAlgorithm::Es256) {
    auto der = der_of(signature);
    if (!der) return false;
    signature = std::move(*der);
  }
  const Digest digest(EVP_MD_CTX_new());
  return digest &&
         EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.key.get()) == 1 &&
         EVP_DigestVerify(digest.get(), bytes_of(signature), signature.size(), bytes_of(text),
                          text.size()) == 1;
}

base::Result<Json> object_of(std::string_view part, const char* what) {
  const auto text = decode_base64url(part);
  if (!text) return wrong(std::string("its ") + what + " is not base64url");
  auto json = Json::parse(*text, kLongestToken);
  if (!json || !json->is_object())
    return wrong(std::string("its ") + what + " is not a JSON object");
  return json;
}

bool names_audience(const Json& audience, const std::string& client) {
  if (audience.is_string()) return audience.as_string() == client;
  const auto& all = audience.items();
  return std::any_of(all.begin(), all.end(),
                     [&](const Json& one) { return one.as_string() == client; });
}

Status check_claims(const Json& claims, const TokenRules& rules) {
  const auto now_s = static_cast<double>(rules.now_s);
  if (claims["iss"].as_string() != rules.issuer) return wrong("another provider has issued it");
  if (!names_audience(claims["aud"], rules.client_id)) return wrong("it is for another client");
  const bool is_for_several = claims["aud"].items().size() > 1;
  const bool has_party = claims.find("azp") != nullptr;
  if ((is_for_several || has_party) && claims["azp"].as_string() != rules.client_id) {
    return wrong("it was given to another client");
  }
  if (!claims["exp"].is_number() || claims["exp"].as_number() + kSkew_s <= now_s) {
    return wrong("it has expired, or the clocks differ");
  }
  if (!claims["iat"].is_number() || claims["iat"].as_number() - kSkew_s > now_s) {
    return wrong("it is from the future: the clocks differ");
  }
  if (claims.find("nbf") != nullptr &&
      (!claims["nbf"].is_number() || claims["nbf"].as_number() - kSkew_s > now_s)) {
    return wrong("it does not count yet: the clocks differ");
  }
  if (rules.nonce.empty() ||
      !base::equal_in_constant_time(claims["nonce"].as_string(), rules.nonce)) {
    return wrong("it is for another login");
  }
  const std::string& subject = claims["sub"].as_string();
  if (subject.empty() || subject.size() > kLongestSubject) return wrong("it has no subject");
  return {};
}

}  // namespace

std::optional<std::string> decode_base64url(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<uint32_t>(digit)) & 0xffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  // One text for the same bytes, so that nobody has two of a token.
  if ((bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return bytes;
}

std::string encode_base64url(std::string_view bytes) {
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8 | static_cast<unsigned char>(c)) & 0xffff;
    for (count += 8; count >= 6;) text += kDigits[bits >> (count -= 6) & 63];
  }
  if (count > 0) text += kDigits[bits << (6 - count) & 63];
  return text;
}

base::Result<std::vector<SigningKey>> parse_signing_keys(const Json& jwks) {
  if (!jwks["keys"].is_array()) return Status(Code::Corrupt, "its keys are not a JWKS document");
  const auto& listed = jwks["keys"].items();
  if (listed.size() > kMostKeys) return Status(Code::Corrupt, "it has more than 100 keys");
  std::vector<SigningKey> keys;
  for (const Json& one : listed) {
    const std::string& type = one["kty"].as_string();
    SigningKey key;
    key.id = one["kid"].as_string();
    if (type == "RSA" && may_sign(one, "RS256")) {
      key.key = rsa_key(one);
    } else if (type == "EC" && one["crv"].as_string() == "P-256" && may_sign(one, "ES256")) {
      key.algorithm = SigningAlgorithm::Es256;
      key.key = p256_key(one);
    }
    if (key.key) keys.push_back(std::move(key));
  }
  return keys;
}

base::Result<TokenClaims> check_id_token(std::string_view token,
                                         const std::vector<SigningKey>& keys,
                                         const TokenRules& rules) {
  if (token.size() > kLongestToken) return wrong("it is too long");
  const size_t first = token.find('.');
  const size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos) {
    return wrong("it does not have three parts");
  }
  const auto header = object_of(token.substr(0, first), "header");
  if (!header) return header.status();
  // The key says by which algorithm; what the token says of it has to be the same.
  const std::string& algorithm = (*header)["alg"].as_string();
  if (algorithm != "RS256" && algorithm != "ES256") {
    return wrong("it is signed by something else than RS256 or ES256");
  }
  if (header->find("crit") != nullptr) return wrong("it asks for something that is not known here");
  const auto wanted = algorithm == "RS256" ? SigningAlgorithm::Rs256 : SigningAlgorithm::Es256;
  const bool names_key = header->find("kid") != nullptr;
  std::vector<const SigningKey*> fitting;
  for (const SigningKey& key : keys) {
    const bool is_meant = !names_key || key.id == (*header)["kid"].as_string();
    if (is_meant && key.algorithm == wanted) fitting.push_back(&key);
  }
  if (fitting.empty()) return Status(Code::NotFound, "it is signed by a key that is not known");
  const auto signature = decode_base64url(token.substr(second + 1));
  const bool is_genuine =
      signature && std::any_of(fitting.begin(), fitting.end(), [&](const SigningKey* key) {
        return is_signed(token.substr(0, second), *signature, *key);
      });
  if (!is_genuine) return wrong("its signature is wrong");
  const auto claims = object_of(token.substr(first + 1, second - first - 1), "content");
  if (!claims) return claims.status();
  if (Status checked = check_claims(*claims, rules); !checked) return checked;
  return TokenClaims{.subject = (*claims)["sub"].as_string(),
                     .email = (*claims)["email"].as_string(),
                     .username = (*claims)["preferred_username"].as_string(),
                     .is_email_verified = (*claims)["email_verified"].as_bool()};
}

}  // namespace gpufl::hosting
