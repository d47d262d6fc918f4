// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"
#include "hosting/oidc_token.hpp"
#include "net/http_client.hpp"

// A provider of logins by OpenID Connect (authorization code with PKCE), which whoever starts the
// server has chosen. It is asked over https, follows nobody elsewhere, and gets neither much time
// nor much room. Any thread; some calls wait for the provider, and only a few at a time.
namespace gpufl::hosting {

struct OidcSettings {
  std::string issuer = {};                     // as the provider itself writes it
  std::string client_id = {};                  // as it knows this server
  std::string client_secret = {};              // empty: a public client, by PKCE alone
  std::string name = {};                       // on the login page; empty: the issuer's host
  std::string ca_file = {};                    // who vouches for it; empty: the system's
  bool allow_plain_http = false;               // of a provider on loopback, for tests
  std::chrono::milliseconds time{6000};        // for each of its answers
  std::chrono::milliseconds lasts{3'600'000};  // what it has said of itself
  std::chrono::milliseconds pace{60'000};      // between two looks for new keys
  std::chrono::milliseconds retry_pace{3000};  // after it could not be read
};

class OidcProvider {
 public:
  using IsCancelled = std::function<bool()>;

  // Asks nobody yet. InvalidArgument: the settings cannot be meant.
  static base::Result<std::unique_ptr<OidcProvider>> make(OidcSettings settings);

  const std::string& issuer() const { return settings_.issuer; }
  const std::string& name() const { return settings_.name; }

  // One login, by secrets that nobody else knows.
  struct Attempt {
    std::string state, nonce, verifier;
    std::string redirect_uri;
  };
  // Where the browser goes. Of this and the next: Unavailable or IoError where the provider may
  // answer later, Corrupt where its answers cannot be used, Cancelled.
  base::Result<std::string> login_address(const Attempt& attempt, const IsCancelled& is_cancelled);

  struct Person {
    TokenClaims claims;
    std::string access_token;  // for more of them
  };
  // PermissionDenied: the code is none, or what came for it is not for this login.
  base::Result<Person> exchange(std::string_view code, const Attempt& attempt,
                                const IsCancelled& is_cancelled);
  // Verified e-mail and name, of which the token lacks one, as far as the provider's user info has
  // them.
  base::Status complete(Person& person, const IsCancelled& is_cancelled);

  // Where one logs out of the provider, if that is known by now; else empty.
  std::string sign_out_address() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Endpoints {
    std::string login, token, keys, user_info, sign_out;
    bool takes_basic = true;  // the secret as Basic credentials, else in the form
    Clock::time_point read_at;
  };
  struct Keys {
    std::vector<SigningKey> keys;
    Clock::time_point read_at;
  };

  explicit OidcProvider(OidcSettings settings) : settings_(std::move(settings)) {}

  base::Result<std::shared_ptr<const Endpoints>> endpoints(const IsCancelled& is_cancelled);
  base::Result<std::shared_ptr<const Endpoints>> read_endpoints(
      const IsCancelled& is_cancelled) const;
  // `is_unknown`: a token names one that those known before do not have.
  base::Result<std::shared_ptr<const Keys>> keys(const Endpoints& endpoints, bool is_unknown,
                                                 const IsCancelled& is_cancelled);
  base::Result<TokenClaims> check(const std::string& token, const Endpoints& endpoints,
                                  const Attempt& attempt, const IsCancelled& is_cancelled);
  base::Result<base::Json> ask(const std::string& address, net::ClientRequest request,
                               const char* what, const IsCancelled& is_cancelled) const;
  bool may_be(std::string_view address) const;

  const OidcSettings settings_;
  mutable std::mutex mutex_;  // guards what is known, held for a moment
  std::shared_ptr<const Endpoints> endpoints_;
  std::shared_ptr<const Keys> keys_;
  std::mutex reading_;  // held while the provider is asked for that
  std::optional<Clock::time_point> failed_at_;
  base::Status failure_;
};

}  // namespace gpufl::hosting
