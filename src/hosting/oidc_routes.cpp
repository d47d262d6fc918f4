// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <string>
#include <utility>

#include "base/constant_time.hpp"
#include "base/secret.hpp"
#include "hosting/hosted_routes.hpp"
#include "net/fields.hpp"
#include "text/display.hpp"

namespace gpufl::hosting {
namespace {

using base::Code;
using base::Json;
using base::Status;
using store::Claim;
using store::User;

constexpr const char* kBegin = "/api/v1/login/oidc";
constexpr const char* kCallback = "/api/v1/login/oidc/callback";
constexpr const char* kToLoginPage = "./../../../../";  // from there
constexpr std::string_view kCookie = "oidc";
constexpr int64_t kAttempt_s = 600;
// What the provider knows of somebody may end on any day, and nobody tells us.
constexpr int64_t kLogin_s = int64_t{12} * 3600;
constexpr size_t kSecretBytes = 32;
constexpr size_t kLongestCode = 4096;
constexpr size_t kLongestClaim = 254;  // in the audit log
// Each waits for the provider, and there are only so many threads.
constexpr int kCallsAtOnce = 4;

// All that belongs to logins by way of the provider. Any thread.
struct Logins {
  explicit Logins(HostedServices& all) : services(all) {}

  HostedServices& services;
  const std::string secret = base::random_hex(kSecretBytes);  // of this start
  Places calls{kCallsAtOnce, kCallsAtOnce, std::chrono::milliseconds(5000)};

  // A browser keeps a time and a random number; the rest follows from these and the secret, so
  // that nothing has to be kept here, however many logins are begun.
  std::string derive(std::string_view what, const std::string& cookie) const {
    return store::hash_secret(secret + " " + std::string(what) + " " + cookie);
  }
  OidcProvider::Attempt attempt(const std::string& cookie) const {
    return {.state = derive("state", cookie),
            .nonce = derive("nonce", cookie),
            .verifier = derive("verifier", cookie),
            .redirect_uri = services.address + (kCallback + 1)};
  }
  // The cookie with which a login was begun here, not long ago; empty: it was not.
  std::string cookie_for(const net::HttpRequest& request, std::string_view state) const {
    for (std::string& cookie :
         net::cookies_of(request, services.access.cookie_name(request, kCookie))) {
      int64_t began_s = 0;
      std::from_chars(cookie.data(), cookie.data() + cookie.size(), began_s);
      const int64_t age_s = now_ms() / 1000 - began_s;
      const bool is_it = base::equal_in_constant_time(derive("state", cookie), state);
      if (is_it && age_s >= 0 && age_s <= kAttempt_s) return std::move(cookie);
    }
    return {};
  }
  std::string set_cookie(const net::HttpRequest& request, const std::string& value,
                         int64_t max_age_s) const {
    const server::OwnAddress& own = services.access.own();
    // The provider sends the browser back, which is another site's doing.
    return net::set_cookie(services.access.cookie_name(request, kCookie), value, own.cookie_path(),
                           max_age_s, own.is_secure(request.header("Host")), net::SameSite::Lax);
  }
};

// The login page says in words what each of these means (account.js).
enum class Failure : uint8_t {
  Refused,      // by the provider, or the person has changed their mind
  Stale,        // not begun in this browser, or too long ago
  Unusable,     // what the provider said
  Unavailable,  // the provider
  Busy,
  Unknown,     // who they are: nobody here
  Unverified,  // their e-mail address, which is expected
  Disabled,
};
std::string_view word_of(Failure failure) {
  switch (failure) {
    case Failure::Refused: return "refused";
    case Failure::Stale: return "stale";
    case Failure::Unusable: return "unusable";
    case Failure::Unavailable: return "unavailable";
    case Failure::Busy: return "busy";
    case Failure::Unknown: return "unknown";
    case Failure::Unverified: return "unverified";
    case Failure::Disabled: break;
  }
  return "disabled";
}

net::HttpReply redirect(std::string to) {
  net::HttpReply reply{.status = 303};
  reply.headers.emplace_back("Location", std::move(to));
  return reply;
}

net::HttpReply fail(Failure failure, std::string_view way_up = kToLoginPage) {
  return redirect(std::string(way_up) + "#login=" + std::string(word_of(failure)));
}

Failure failure_of(const Status& status) {
  switch (status.code()) {
    case Code::Unavailable:
    case Code::IoError:
    case Code::Cancelled: return Failure::Unavailable;
    default: return Failure::Unusable;
  }
}

net::HttpReply begin(const HostedCall& asked, Logins& logins) {
  constexpr std::string_view kWayUp = "./../../../";
  HostedServices& services = logins.services;
  const net::HttpRequest& request = asked.call.request();
  if (services.tries_of_networks.take(services.access.network_of(request)) > 0) {
    return fail(Failure::Busy, kWayUp);
  }
  const Places::Place place(logins.calls);
  if (!place) return fail(Failure::Busy, kWayUp);
  const std::string cookie = std::to_string(now_ms() / 1000) + "-" + base::random_hex(kSecretBytes);
  auto address = services.oidc->login_address(logins.attempt(cookie), request.is_cancelled);
  if (!address) {
    services.complain("login: " + address.status().message());
    return fail(failure_of(address.status()), kWayUp);
  }
  net::HttpReply reply = redirect(std::move(*address));
  reply.headers.emplace_back("Set-Cookie", logins.set_cookie(request, cookie, kAttempt_s));
  return reply;
}

// For the audit log, in which admins look for who wanted in.
std::string described(const store::Identity& identity, const TokenClaims& claims) {
  std::string text = identity.issuer + " subject " + identity.subject;
  if (!claims.email.empty()) {
    text += claims.is_email_verified ? " e-mail " : " unverified e-mail ";
    text += claims.email.substr(0, kLongestClaim);
  }
  if (!claims.username.empty()) text += " name " + claims.username.substr(0, kLongestClaim);
  return text::make_harmless(text);
}

// Whoever an admin expects with that claim is linked from now on.
std::optional<int64_t> meet(const store::Identity& identity, const TokenClaims& claims,
                            HostedServices& services, Failure& failure) {
  const store::DirectoryPtr directory = services.people.directory();
  const auto take = [&](Claim claim, const std::string& value) -> std::optional<int64_t> {
    const auto user = directory->expected_user(claim, value);
    if (!user) return std::nullopt;
    // Whether somebody disabled may come is for an admin to say.
    if (directory->users.at(*user).is_disabled) {
      failure = Failure::Disabled;
      return std::nullopt;
    }
    const auto met = services.people.meet(identity, claim, value);
    if (!met) services.complain("login: " + met.status().message());
    if (!met || !*met) return std::nullopt;
    services.audit.write_of(directory->users.at(*user), "identity linked",
                            described(identity, claims));
    return user;
  };
  failure = Failure::Unknown;
  if (claims.is_email_verified && !claims.email.empty()) {
    if (const auto user = take(Claim::Email, claims.email)) return user;
  } else if (directory->expected_user(Claim::Email, claims.email)) {
    failure = Failure::Unverified;
  }
  if (claims.username.empty()) return std::nullopt;
  return take(Claim::Username, claims.username);
}

net::HttpReply let_in(const net::HttpRequest& request, OidcProvider::Person person,
                      Logins& logins) {
  HostedServices& services = logins.services;
  const store::Identity identity{services.oidc->issuer(), person.claims.subject};
  std::optional<int64_t> user = services.people.directory()->user_with(identity);
  const std::string network = services.access.network_of(request);
  if (!user) {
    Failure failure = Failure::Unknown;
    user = meet(identity, person.claims, services, failure);
    if (!user) {
      if (const Status more = services.oidc->complete(person, request.is_cancelled); !more) {
        services.complain("login: " + more.message());
        return fail(failure_of(more));
      }
      user = meet(identity, person.claims, services, failure);
    }
    if (!user) {
      services.audit.note(0, "", "login refused",
                          network + " " + described(identity, person.claims));
      return fail(failure);
    }
  }
  const store::DirectoryPtr directory = services.people.directory();
  const User& found = directory->users.at(*user);
  if (found.is_disabled) {
    services.audit.note_of(found, "login refused", network);
    return fail(Failure::Disabled);
  }
  const auto secret = services.people.log_in(*user, now_ms() + kLogin_s * 1000);
  if (!secret) {
    services.complain("login: " + secret.status().message());
    return net::problem(503);
  }
  services.audit.write_of(found, "logged in by " + services.oidc->name(), network);
  net::HttpReply reply = redirect(kToLoginPage);
  reply.headers.emplace_back("Set-Cookie", services.access.set_cookie(request, *secret, kLogin_s));
  return reply;
}

net::HttpReply finish(const HostedCall& asked, Logins& logins) {
  HostedServices& services = logins.services;
  const server::Call& call = asked.call;
  const net::HttpRequest& request = call.request();
  if (services.tries_of_networks.take(services.access.network_of(request)) > 0) {
    return fail(Failure::Busy);
  }
  const std::string cookie = logins.cookie_for(request, call.text("state", ""));
  // Where the provider says who it is, it has to be the one that was asked (RFC 9207).
  const std::string issuer = call.text("iss", services.oidc->issuer());
  if (cookie.empty() || issuer != services.oidc->issuer()) return fail(Failure::Stale);
  const auto code = call.text("code");
  if (call.text("error") || !code || code->empty()) {
    const std::string why = text::make_harmless(call.text("error", "it gave no code"));
    services.complain("login: the provider refused: " + why);
    return fail(Failure::Refused);
  }
  const Places::Place place(logins.calls);
  if (!place) return fail(Failure::Busy);
  auto person = services.oidc->exchange(*code, logins.attempt(cookie), request.is_cancelled);
  if (person) return let_in(request, std::move(*person), logins);
  services.complain("login: " + person.status().message());
  return fail(failure_of(person.status()));
}

server::Parameter long_text(const char* name, const char* description) {
  server::Parameter parameter = server::text_parameter(name, description);
  parameter.longest = kLongestCode;
  return parameter;
}

}  // namespace

void add_oidc_routes(HostedRoutes& routes, HostedServices& services) {
  routes.add(Need::Nothing,
             {.pattern = "/api/v1/login",
              .id = "show_logins",
              .summary = "Whether one can log in by way of a provider, too"},
             [&](const HostedCall&) {
               Json provider;
               if (services.oidc != nullptr) {
                 const std::string sign_out = services.oidc->sign_out_address();
                 provider = Json::object()
                                .set("name", services.oidc->name())
                                .set("sign_out", sign_out.empty() ? Json() : Json(sign_out));
               }
               return json(Json::object().set("provider", std::move(provider)));
             });
  if (services.oidc == nullptr) return;
  const auto logins = std::make_shared<Logins>(services);
  routes.add(
      Need::Nothing,
      {.pattern = kBegin, .id = "begin_oidc_login", .summary = "Leads the browser to the provider"},
      [logins](const HostedCall& call) { return begin(call, *logins); });
  routes.add(
      Need::Nothing,
      {.pattern = kCallback,
       .id = "finish_oidc_login",
       .summary = "Where the provider leads it back to; gives a cookie",
       .parameters = {long_text("code", "The provider's, which counts once."),
                      server::text_parameter("state", "That with which the login began."),
                      long_text("error", "Instead of a code."),
                      long_text("iss", "Which provider this is.")}},
      [logins](const HostedCall& call) {
        net::HttpReply reply = finish(call, *logins);
        // Good for one try.
        reply.headers.emplace_back("Set-Cookie", logins->set_cookie(call.call.request(), "", 0));
        return reply;
      },
      HostedRoutes::Query::Foreign);
}

}  // namespace gpufl::hosting
