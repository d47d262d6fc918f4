// SPDX-License-Identifier: Apache-2.0
#include "hosting/oidc_provider.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/sha256.hpp"
#include "net/target.hpp"
#include "text/display.hpp"

namespace gpufl::hosting {
namespace {

using base::Code;
using base::Json;
using base::Status;

constexpr size_t kReplyBytes = size_t{256} << 10;
constexpr size_t kHeadBytes = size_t{16} << 10;
constexpr size_t kLongestAddress = 2048;
constexpr size_t kLongestWord = 100;  // of a provider, in a message

// "https://host:1/token?a=b" as what is connected to and what is asked for there. Nothing: it is no
// such address.
struct Address {
  net::Url url;
  std::string target;
};
std::optional<Address> parse_address(std::string_view text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < '\x7f' && c != '#' && c != '"' && c != '<' && c != '>' && c != '\\';
  });
  const size_t scheme = text.find("://");
  if (!is_plain || scheme == std::string_view::npos || text.size() > kLongestAddress) {
    return std::nullopt;
  }
  const size_t end = text.find_first_of("/?", scheme + 3);
  auto url = net::parse_url(text.substr(0, end));
  if (!url) return std::nullopt;
  std::string target = end == std::string_view::npos ? "/" : std::string(text.substr(end));
  if (target.front() == '?') target.insert(0, "/");
  return Address{std::move(*url), std::move(target)};
}

std::string with_query(std::string address, const net::NamedTexts& values) {
  for (const auto& [name, value] : values) {
    address += address.find('?') == std::string::npos ? '?' : '&';
    address += name + "=" + net::percent_encode(value);
  }
  return address;
}

std::string form_of(const net::NamedTexts& values) {
  std::string form;
  for (const auto& [name, value] : values) {
    if (!form.empty()) form += '&';
    form += name + "=" + net::percent_encode(value);
  }
  return form;
}

// RFC 7636: base64url of the SHA-256 of what only we know.
std::string challenge_of(std::string_view verifier) {
  base::Sha256 hash;
  hash.add(verifier);
  const std::string digits = hash.finish();
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return encode_base64url(bytes);
}

bool lists(const Json& array, std::string_view word) {
  const auto& all = array.items();
  return std::any_of(all.begin(), all.end(),
                     [&](const Json& one) { return one.as_string() == word; });
}

Status useless(const std::string& what) {
  return {Code::Corrupt, "the provider of logins " + what};
}

std::string harmless(const std::string& word) {
  return text::make_harmless(std::string_view(word).substr(0, kLongestWord));
}

}  // namespace

base::Result<std::unique_ptr<OidcProvider>> OidcProvider::make(OidcSettings settings) {
  const auto refuse = [](std::string why) { return Status(Code::InvalidArgument, std::move(why)); };
  const auto address = parse_address(settings.issuer);
  if (!address || settings.issuer.find('?') != std::string::npos) {
    return refuse("the issuer '" + text::make_harmless(settings.issuer) +
                  "' is not an address; write it as the provider does, https://HOST/PATH");
  }
  const bool is_allowed =
      address->url.is_tls || (settings.allow_plain_http && address->url.is_loopback());
  if (!is_allowed) {
    return refuse("the issuer " + settings.issuer +
                  " is not https: whoever is between could log in as anybody");
  }
  if (settings.client_id.empty()) return refuse("the provider's name for this server is missing");
  if (settings.name.empty()) settings.name = address->url.host;
  net::HttpClientOptions options;
  options.tls.ca_file = settings.ca_file;
  // A file of certificates that cannot be read is told at the start.
  if (auto client = net::HttpClient::make(address->url, options); !client) return client.status();
  return std::unique_ptr<OidcProvider>(new OidcProvider(std::move(settings)));
}

bool OidcProvider::may_be(std::string_view text) const {
  const auto address = parse_address(text);
  if (!address) return false;
  return address->url.is_tls || (settings_.allow_plain_http && address->url.is_loopback());
}

base::Result<Json> OidcProvider::ask(const std::string& text, net::ClientRequest request,
                                     const char* what, const IsCancelled& is_cancelled) const {
  const auto address = parse_address(text);
  if (!address) return useless("has an address that cannot be used");
  net::HttpClientOptions options;
  options.tls.ca_file = settings_.ca_file;
  options.connect_time = options.quiet_time = options.total_time = settings_.time;
  options.head_bytes = kHeadBytes;
  options.reply_bytes = kReplyBytes;
  options.is_cancelled = is_cancelled;
  // A new connection each time, by which a request is never sent twice.
  auto client = net::HttpClient::make(address->url, std::move(options));
  if (!client) return client.status();
  request.target = address->target;
  request.headers.emplace_back("Accept", "application/json");
  const auto reply = (*client)->ask(request);
  if (!reply) {
    return Status(reply.status().code(), std::string(what) + ": " + reply.status().message());
  }
  auto json = Json::parse(reply->body, kReplyBytes);
  if (reply->status == 200 && json && json->is_object()) return json;
  std::string said = std::string(what) + ": answered " + std::to_string(reply->status);
  if (reply->status == 200) return useless(said + ", but with no JSON object");
  if (reply->status >= 300 && reply->status < 400) return useless(said + "; that is not followed");
  if (json && !(*json)["error"].as_string().empty()) {
    said += " " + harmless((*json)["error"].as_string()) + " " +
            harmless((*json)["error_description"].as_string());
  }
  if (reply->status >= 500 || reply->status == 429) return Status(Code::Unavailable, said);
  return Status(Code::PermissionDenied, said);
}

base::Result<std::shared_ptr<const OidcProvider::Endpoints>> OidcProvider::read_endpoints(
    const IsCancelled& is_cancelled) const {
  std::string address = settings_.issuer;
  if (address.ends_with('/')) address.pop_back();
  const auto found =
      ask(address + "/.well-known/openid-configuration", {}, "discovery", is_cancelled);
  if (!found) return found.status();
  const Json& document = *found;
  if (document["issuer"].as_string() != settings_.issuer) {
    return useless("calls itself '" + harmless(document["issuer"].as_string()) +
                   "'; give exactly that as the issuer, if it is meant");
  }
  Endpoints endpoints{.login = document["authorization_endpoint"].as_string(),
                      .token = document["token_endpoint"].as_string(),
                      .keys = document["jwks_uri"].as_string(),
                      .user_info = document["userinfo_endpoint"].as_string(),
                      .sign_out = document["end_session_endpoint"].as_string(),
                      .read_at = Clock::now()};
  for (const std::string* one : {&endpoints.login, &endpoints.token, &endpoints.keys}) {
    if (!may_be(*one)) return useless("has an endpoint that is not https: " + harmless(*one));
  }
  if (!may_be(endpoints.user_info)) endpoints.user_info.clear();
  if (!may_be(endpoints.sign_out)) endpoints.sign_out.clear();
  const Json* challenges = document.find("code_challenge_methods_supported");
  if (challenges != nullptr && !lists(*challenges, "S256"))
    return useless("does without PKCE S256");
  const Json* methods = document.find("token_endpoint_auth_methods_supported");
  endpoints.takes_basic = methods == nullptr || lists(*methods, "client_secret_basic");
  return std::make_shared<const Endpoints>(std::move(endpoints));
}

base::Result<std::shared_ptr<const OidcProvider::Endpoints>> OidcProvider::endpoints(
    const IsCancelled& is_cancelled) {
  const auto known = [&]() -> std::shared_ptr<const Endpoints> {
    const std::lock_guard lock(mutex_);
    const bool is_fresh = endpoints_ && Clock::now() - endpoints_->read_at < settings_.lasts;
    return is_fresh ? endpoints_ : nullptr;
  };
  if (auto fresh = known()) return fresh;
  const std::lock_guard reading(reading_);
  if (auto fresh = known()) return fresh;  // another was quicker
  if (failed_at_ && Clock::now() - *failed_at_ < settings_.retry_pace) return failure_;
  auto read = read_endpoints(is_cancelled);
  if (!read) {
    if (read.status().code() != Code::Cancelled) {
      failed_at_ = Clock::now();
      failure_ = read.status();
    }
    return read.status();
  }
  const std::lock_guard lock(mutex_);
  endpoints_ = *read;
  return read;
}

base::Result<std::shared_ptr<const OidcProvider::Keys>> OidcProvider::keys(
    const Endpoints& endpoints, bool is_unknown, const IsCancelled& is_cancelled) {
  const auto known = [&]() -> std::shared_ptr<const Keys> {
    const std::lock_guard lock(mutex_);
    if (!keys_) return nullptr;
    // Anybody can make tokens with keys that do not exist.
    const auto lasts = is_unknown ? settings_.pace : settings_.lasts;
    return Clock::now() - keys_->read_at < lasts ? keys_ : nullptr;
  };
  if (auto fresh = known()) return fresh;
  const std::lock_guard reading(reading_);
  if (auto fresh = known()) return fresh;
  const auto document = ask(endpoints.keys, {}, "keys", is_cancelled);
  if (!document) return document.status();
  auto parsed = parse_signing_keys(*document);
  if (!parsed) return parsed.status();
  auto made = std::make_shared<const Keys>(Keys{std::move(*parsed), Clock::now()});
  const std::lock_guard lock(mutex_);
  keys_ = made;
  return made;
}

base::Result<std::string> OidcProvider::login_address(const Attempt& attempt,
                                                      const IsCancelled& is_cancelled) {
  const auto at = endpoints(is_cancelled);
  if (!at) return at.status();
  return with_query((*at)->login, {{"response_type", "code"},
                                   {"client_id", settings_.client_id},
                                   {"redirect_uri", attempt.redirect_uri},
                                   {"scope", "openid email profile"},
                                   {"state", attempt.state},
                                   {"nonce", attempt.nonce},
                                   {"code_challenge", challenge_of(attempt.verifier)},
                                   {"code_challenge_method", "S256"}});
}

base::Result<TokenClaims> OidcProvider::check(const std::string& token, const Endpoints& at,
                                              const Attempt& attempt,
                                              const IsCancelled& is_cancelled) {
  const TokenRules rules{settings_.issuer, settings_.client_id, attempt.nonce,
                         base::wall_ns() / 1'000'000'000};
  auto known = keys(at, false, is_cancelled);
  if (!known) return known.status();
  auto claims = check_id_token(token, (*known)->keys, rules);
  if (claims || claims.status().code() != Code::NotFound) return claims;
  // The provider may have begun to sign by a new key.
  known = keys(at, true, is_cancelled);
  if (!known) return known.status();
  return check_id_token(token, (*known)->keys, rules);
}

base::Result<OidcProvider::Person> OidcProvider::exchange(std::string_view code,
                                                          const Attempt& attempt,
                                                          const IsCancelled& is_cancelled) {
  const auto at = endpoints(is_cancelled);
  if (!at) return at.status();
  net::NamedTexts values = {{"grant_type", "authorization_code"},
                            {"code", std::string(code)},
                            {"redirect_uri", attempt.redirect_uri},
                            {"code_verifier", attempt.verifier}};
  net::ClientRequest request{.method = "POST"};
  request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  const std::string& secret = settings_.client_secret;
  if (!secret.empty() && (*at)->takes_basic) {
    const std::string both =
        net::percent_encode(settings_.client_id) + ":" + net::percent_encode(secret);
    request.headers.emplace_back("Authorization", "Basic " + net::base64(both));
  } else {
    values.emplace_back("client_id", settings_.client_id);
    if (!secret.empty()) values.emplace_back("client_secret", secret);
  }
  const std::string form = form_of(values);
  request.body = net::RequestBody::of(form);
  const auto reply = ask((*at)->token, std::move(request), "code", is_cancelled);
  if (!reply) return reply.status();
  auto claims = check((*reply)["id_token"].as_string(), **at, attempt, is_cancelled);
  if (!claims) {
    const bool is_about_token = claims.status().code() == Code::PermissionDenied ||
                                claims.status().code() == Code::NotFound;
    if (!is_about_token) return claims.status();
    return Status(Code::PermissionDenied, "ID token: " + claims.status().message());
  }
  return Person{std::move(*claims), (*reply)["access_token"].as_string()};
}

Status OidcProvider::complete(Person& person, const IsCancelled& is_cancelled) {
  const bool has_email = !person.claims.email.empty() && person.claims.is_email_verified;
  if (has_email && !person.claims.username.empty()) return {};
  const auto at = endpoints(is_cancelled);
  if (!at) return at.status();
  const bool can_be_sent = !person.access_token.empty() &&
                           std::all_of(person.access_token.begin(), person.access_token.end(),
                                       [](char c) { return c > ' ' && c < '\x7f'; });
  if ((*at)->user_info.empty() || !can_be_sent) return {};
  net::ClientRequest request;
  request.headers.emplace_back("Authorization", "Bearer " + person.access_token);
  const auto said = ask((*at)->user_info, std::move(request), "user info", is_cancelled);
  if (!said) return said.status();
  if ((*said)["sub"].as_string() != person.claims.subject) {
    return useless("names another user than the token");
  }
  // What the token says counts before that.
  if (!has_email && !(*said)["email"].as_string().empty()) {
    person.claims.email = (*said)["email"].as_string();
    person.claims.is_email_verified = (*said)["email_verified"].as_bool();
  }
  if (person.claims.username.empty()) {
    person.claims.username = (*said)["preferred_username"].as_string();
  }
  return {};
}

std::string OidcProvider::sign_out_address() const {
  const std::lock_guard lock(mutex_);
  if (!endpoints_ || endpoints_->sign_out.empty()) return {};
  return with_query(endpoints_->sign_out, {{"client_id", settings_.client_id}});
}

}  // namespace gpufl::hosting
