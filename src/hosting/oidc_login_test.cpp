// SPDX-License-Identifier: Apache-2.0
// Logins by way of a provider, from the browser's side, with a provider that may be up to no good.
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "hosting/test_host.hpp"
#include "hosting/test_provider.hpp"

namespace gpufl::hosting {
namespace {

using base::Json;
using store::Claim;
using store::Role;
using testing::list_of;
using testing::Provider;
using testing::Signer;

std::string value_of(const std::string& head, const std::string& name) {
  const size_t at = head.find(name);
  if (at == std::string::npos) return {};
  return head.substr(at + name.size(), head.find("\r\n", at) - at - name.size());
}

class OidcLoginTest : public testing::HostTest {
 protected:
  void SetUp() override {
    start(with_provider());
    workspace("lab");
    const auto people = this->people();
    ada_ = *people->add_user("ada");
    ASSERT_TRUE(people->set_role(ada_, workspace("lab"), Role::Viewer));
  }
  HostedOptions with_provider() {
    HostedOptions options = this->options();
    options.oidc = OidcSettings{.issuer = provider_.issuer(),
                                .client_id = "gpufl",
                                .client_secret = "s&cret",
                                .name = "Example",
                                .allow_plain_http = true};
    return options;
  }

  // It remembers nothing of what the provider said before.
  void start_forgetful() {
    HostedOptions options = with_provider();
    options.oidc->lasts = options.oidc->retry_pace = std::chrono::milliseconds(0);
    start(options);
  }

  // A login as a browser makes it: to the provider and back.
  struct Attempt {
    std::string cookie, address;
  };
  Attempt begin() {
    const net::Response response = get("/api/v1/login/oidc");
    EXPECT_EQ(response.status, 303) << response.body;
    const std::string cookie = value_of(response.head, "Set-Cookie: ");
    EXPECT_NE(cookie.find("; HttpOnly; SameSite=Lax"), std::string::npos) << response.head;
    return {"Cookie: " + cookie.substr(0, cookie.find(';')) + "\r\n",
            value_of(response.head, "Location: ")};
  }
  net::Response come_back(const net::NamedTexts& values, const std::string& cookie) {
    std::string target = "/api/v1/login/oidc/callback";
    char separator = '?';
    for (const auto& [name, value] : values) {
      target += separator + name + "=" + net::percent_encode(value);
      separator = '&';
    }
    return get(target, cookie + "Sec-Fetch-Site: cross-site\r\n");
  }
  net::Response log_in() {
    const Attempt attempt = begin();
    return come_back(provider_.authorize(attempt.address), attempt.cookie);
  }
  // "ok", or why not, as the login page is told.
  static std::string outcome(const net::Response& response) {
    EXPECT_EQ(response.status, 303) << response.body;
    const std::string to = value_of(response.head, "Location: ");
    const std::string place = "./../../../../";
    EXPECT_TRUE(to.starts_with(place)) << to;
    EXPECT_NE(response.head.find("gpufl_oidc_"), std::string::npos) << "good for one try";
    if (to == place) return "ok";
    EXPECT_EQ(response.head.find("gpufl_session_"), std::string::npos) << response.head;
    return to.substr(place.size() + std::string("#login=").size());
  }
  std::string log_in_outcome() { return outcome(log_in()); }
  static std::string cookie_in(const net::Response& response) {
    const std::string cookie = value_of(response.head, "Set-Cookie: gpufl_session_");
    EXPECT_NE(cookie.find("SameSite=Strict"), std::string::npos) << response.head;
    return "Cookie: gpufl_session_" + cookie.substr(0, cookie.find(';')) + "\r\n";
  }
  // Until the server has seen what an admin has done beside it.
  void wait() {
    const std::string cookie = make_login("ada", "lab", Role::Viewer);
    wait_for(200, [&] { return get("/api/v1/me", cookie); });
  }
  void link() {
    ASSERT_TRUE(people()->link(ada_, {provider_.issuer(), "248289761001"}));
    wait();
  }
  void expect(Claim claim, const std::string& value) {
    ASSERT_TRUE(people()->expect(ada_, claim, value));
    wait();
  }

  Provider provider_;
  int64_t ada_ = 0;
};

TEST_F(OidcLoginTest, WhoIsLinkedLogsInAndOut) {
  EXPECT_EQ(json_of(get("/api/v1/login"))["provider"]["name"].as_string(), "Example");
  link();
  const net::Response in = log_in();
  ASSERT_EQ(outcome(in), "ok");
  const std::string cookie = cookie_in(in);
  EXPECT_EQ(json_of(get("/api/v1/me", cookie))["user"].as_string(), "ada");
  wait_for(200, [&] { return get("/w/lab/api/v1/sessions", cookie); });
  const std::string sign_out = json_of(get("/api/v1/login"))["provider"]["sign_out"].as_string();
  EXPECT_EQ(sign_out, provider_.issuer() + "/end?client_id=gpufl");
  EXPECT_EQ(post_json("/api/v1/logout", Json::object(), cookie + own_origin()).status, 204);
  EXPECT_EQ(get("/api/v1/me", cookie).status, 401);
  // The secret is the server's own: in the request to the provider, and nowhere else.
  EXPECT_EQ(provider_.last_authorization(), "Basic " + net::base64("gpufl:s%26cret"));
  const std::lock_guard lock(mutex_);
  for (const char* secret : {"s&cret", "s%26cret", "sesame", "code0"}) {
    EXPECT_EQ(log_.find(secret), std::string::npos) << secret;
  }
}

TEST_F(OidcLoginTest, TheProviderIsAskedAsItShouldBe) {
  const Attempt first = begin(), second = begin();
  const auto values = [](const Attempt& attempt) {
    const auto query = net::parse_query(attempt.address.substr(attempt.address.find('?') + 1));
    return std::map<std::string, std::string>(query->begin(), query->end());
  };
  auto asked = values(first);
  EXPECT_TRUE(first.address.starts_with(provider_.issuer() + "/auth?tenant=1&response_type=code"));
  EXPECT_EQ(asked["client_id"], "gpufl");
  EXPECT_EQ(asked["redirect_uri"], server_->address() + "api/v1/login/oidc/callback");
  EXPECT_EQ(asked["code_challenge_method"], "S256");
  EXPECT_EQ(asked["code_challenge"].size(), 43U);
  for (const char* name : {"state", "nonce", "code_challenge"}) {
    EXPECT_GE(asked[name].size(), 43U) << name;
    EXPECT_NE(asked[name], values(second)[name]) << name;
    EXPECT_EQ(first.cookie.find(asked[name]), std::string::npos) << "the cookie does not tell it";
  }
  EXPECT_EQ(provider_.times("/.well-known/openid-configuration"), 1) << "it is known by now";
}

TEST_F(OidcLoginTest, OnlyTheBrowserThatBeganComesIn) {
  link();
  const Attempt mine = begin(), others = begin();
  auto answer = provider_.authorize(mine.address);
  EXPECT_EQ(outcome(come_back(answer, "")), "stale");
  EXPECT_EQ(outcome(come_back(answer, others.cookie)), "stale");
  EXPECT_EQ(outcome(come_back({{"code", "code0"}}, mine.cookie)), "stale");
  auto another = answer;
  another[1].second = std::string(64, '0');
  EXPECT_EQ(outcome(come_back(another, mine.cookie)), "stale");
  auto elsewhere = answer;
  elsewhere[2].second = "https://evil.example";
  EXPECT_EQ(outcome(come_back(elsewhere, mine.cookie)), "stale");
  // A time that is none of this server's.
  const size_t at = mine.cookie.find('=') + 1;
  const std::string old = mine.cookie.substr(0, at) + "1" + mine.cookie.substr(at + 10);
  EXPECT_EQ(outcome(come_back(answer, old)), "stale");
  EXPECT_EQ(provider_.times("/token"), 0) << "nobody was asked about that";
  EXPECT_EQ(outcome(come_back(answer, mine.cookie)), "ok");
  EXPECT_EQ(outcome(come_back(answer, mine.cookie)), "unusable") << "a code counts once";
  // Somebody else's code, brought into one's own login, has another verifier.
  const auto stolen = provider_.authorize(begin().address);
  const Attempt own = begin();
  auto mixed = provider_.authorize(own.address);
  mixed[0].second = stolen[0].second;
  EXPECT_EQ(outcome(come_back(mixed, own.cookie)), "unusable");
  EXPECT_EQ(come_back({{"code", "a"}, {"code", "b"}}, own.cookie).status, 400);
}

TEST_F(OidcLoginTest, AProviderThatRefusesIsTold) {
  const Attempt attempt = begin();
  auto answer = provider_.authorize(attempt.address);
  const std::string state = answer[1].second;
  EXPECT_EQ(outcome(come_back({{"error", "access_denied"}, {"state", state}}, attempt.cookie)),
            "refused");
  EXPECT_EQ(outcome(come_back({{"error", "access_denied"}, {"code", "code0"}, {"state", state}},
                              attempt.cookie)),
            "refused");
  EXPECT_EQ(outcome(come_back({{"state", state}}, attempt.cookie)), "refused");
  EXPECT_EQ(provider_.times("/token"), 0);
}

TEST_F(OidcLoginTest, AnExpectedAddressCountsOnceItIsVerified) {
  expect(Claim::Email, "ada@example.org");
  const auto person = [this](const char* subject, const Json& is_verified) {
    provider_.set_user_info(Json::object().set("sub", subject));
    return Json::object()
        .set("sub", subject)
        .set("email", "Ada@Example.org")
        .set("email_verified", is_verified);
  };
  EXPECT_EQ(log_in_outcome(), "unknown") << "who says nothing of themselves";
  for (const Json& no : {Json(false), Json(), Json("true"), Json(1)}) {
    provider_.set_person(person("1", no));
    EXPECT_EQ(log_in_outcome(), "unverified") << no.dump();
  }
  provider_.set_person(person("2", true).set("email", "eve@example.org"));
  EXPECT_EQ(log_in_outcome(), "unknown");
  EXPECT_TRUE(people()->directory()->identities.empty());
  provider_.set_person(person("1", true));
  const net::Response in = log_in();
  ASSERT_EQ(outcome(in), "ok");
  EXPECT_EQ(json_of(get("/api/v1/me", cookie_in(in)))["user"].as_string(), "ada");
  // From now on the account counts, whatever it is called; and nobody else of that address.
  provider_.set_person(person("1", false).set("email", "new@example.org"));
  EXPECT_EQ(log_in_outcome(), "ok");
  provider_.set_person(person("3", true));
  EXPECT_EQ(log_in_outcome(), "unknown");
}

TEST_F(OidcLoginTest, AnExpectedNameMayComeFromTheUserInfo) {
  expect(Claim::Username, "ada.l");
  provider_.set_user_info(Json::object().set("sub", "other").set("preferred_username", "ada.l"));
  EXPECT_EQ(log_in_outcome(), "unusable") << "it tells of another user than the token";
  provider_.set_user_info(
      Json::object().set("sub", "248289761001").set("preferred_username", "ada.m"));
  EXPECT_EQ(log_in_outcome(), "unknown");
  provider_.set_user_info(
      Json::object().set("sub", "248289761001").set("preferred_username", "ada.l"));
  EXPECT_EQ(log_in_outcome(), "ok");
  EXPECT_EQ(provider_.last_authorization().substr(0, 6), "Basic ");
}

TEST_F(OidcLoginTest, AnExpectedAddressMayComeFromTheUserInfoOfWhoeverHasAName) {
  expect(Claim::Email, "ada@example.org");
  const auto known = [] {
    return Json::object().set("sub", "248289761001").set("preferred_username", "ada.l");
  };
  provider_.set_person(known());
  provider_.set_user_info(known().set("email", "ada@example.org"));
  EXPECT_EQ(log_in_outcome(), "unverified");
  provider_.set_user_info(known().set("email", "ada@example.org").set("email_verified", true));
  EXPECT_EQ(log_in_outcome(), "ok");
}

TEST_F(OidcLoginTest, ADisabledUserStaysOut) {
  link();
  const std::string cookie = make_login("ada", "lab", Role::Viewer);
  wait_for(200, [&] { return get("/api/v1/me", cookie); });
  ASSERT_TRUE(people()->set_disabled(ada_, true));
  wait_for(401, [&] { return get("/api/v1/me", cookie); });
  EXPECT_EQ(log_in_outcome(), "disabled");
}

TEST_F(OidcLoginTest, ATokenForSomethingElseLetsNobodyIn) {
  link();
  const std::vector<std::pair<const char*, Json>> wrong = {{"iss", "https://evil.example"},
                                                           {"aud", "other"},
                                                           {"nonce", "another"},
                                                           {"exp", testing::now_s() - 3600},
                                                           {"iat", testing::now_s() + 3600}};
  for (const auto& one : wrong) {
    provider_.set_claims([one](Json& claims) { claims.set(one.first, one.second); });
    EXPECT_EQ(log_in_outcome(), "unusable") << one.first;
  }
  provider_.set_claims({});
  EXPECT_EQ(log_in_outcome(), "ok");
  const auto give = [&](const std::string& token) {
    provider_.set_mischief([token](const net::HttpRequest& asked) -> std::optional<net::HttpReply> {
      if (asked.path != "/token") return std::nullopt;
      return net::reply_with("application/json",
                             Json::object().set("id_token", token).set("access_token", "a").dump());
    });
    return log_in_outcome();
  };
  EXPECT_EQ(give(""), "unusable");
  EXPECT_EQ(
      give(encode_base64url(R"({"alg":"none"})") + "." + encode_base64url(R"({"sub":"1"})") + "."),
      "unusable");
}

TEST_F(OidcLoginTest, NewKeysAreLookedForWithinLimits) {
  link();
  EXPECT_EQ(log_in_outcome(), "ok");
  const int before = provider_.times("/jwks");
  EXPECT_EQ(log_in_outcome(), "ok");
  EXPECT_EQ(provider_.times("/jwks"), before) << "they are known";
  provider_.rotate(Signer::rsa("two"));
  EXPECT_EQ(log_in_outcome(), "unusable") << "it was asked for keys a moment ago";
  EXPECT_EQ(provider_.times("/jwks"), before);
  HostedOptions quick = with_provider();
  quick.oidc->pace = std::chrono::milliseconds(0);
  start(quick);
  EXPECT_EQ(log_in_outcome(), "ok");
  provider_.rotate(Signer::p256("three"));
  EXPECT_EQ(log_in_outcome(), "ok");
  EXPECT_EQ(provider_.times("/jwks"), before + 2);
}

TEST_F(OidcLoginTest, WhatAProviderMayNotAnswer) {
  struct Case {
    const char* path;
    const char* what;
    std::function<net::HttpReply()> reply;
    std::string outcome;
  };
  const auto redirect = [this] {
    net::HttpReply reply{.status = 302};
    reply.headers.emplace_back("Location", provider_.issuer() + "/elsewhere");
    return reply;
  };
  const auto huge = [] {
    return net::reply_with("application/json",
                           "{\"a\":\"" + std::string(size_t{1} << 20, 'x') + "\"}");
  };
  std::vector<Case> cases;
  for (const char* path : {"/.well-known/openid-configuration", "/token", "/jwks", "/me"}) {
    cases.push_back({path, "redirect", redirect, "unusable"});
    cases.push_back({path, "huge", huge, "unusable"});
    cases.push_back(
        {path, "no JSON", [] { return net::reply_with("text/html", "<html>"); }, "unusable"});
    cases.push_back(
        {path, "a list", [] { return net::reply_with("application/json", "[]"); }, "unusable"});
    cases.push_back({path, "503", [] { return net::problem(503); }, "unavailable"});
    cases.push_back({path, "401", [] { return net::problem(401); }, "unusable"});
  }
  start_forgetful();
  for (const Case& one : cases) {
    provider_.set_mischief([&one](const net::HttpRequest& asked) -> std::optional<net::HttpReply> {
      if (asked.path != one.path) return std::nullopt;
      return one.reply();
    });
    const std::string what = std::string(one.path) + " " + one.what;
    const net::Response begun = get("/api/v1/login/oidc");
    const std::string to = value_of(begun.head, "Location: ");
    if (std::string_view(one.path).starts_with("/.well-known")) {
      EXPECT_EQ(to, "./../../../#login=" + one.outcome) << what;
      continue;
    }
    const std::string cookie = value_of(begun.head, "Set-Cookie: ");
    EXPECT_EQ(outcome(come_back(provider_.authorize(to),
                                "Cookie: " + cookie.substr(0, cookie.find(';')) + "\r\n")),
              one.outcome)
        << what;
  }
  EXPECT_EQ(provider_.times("/elsewhere"), 0) << "nobody is followed";
}

TEST_F(OidcLoginTest, AProviderThatIsNotWhatItWasIsNotUsed) {
  start_forgetful();
  const auto begins = [&](const char* name, Json value) {
    provider_.set_about(name, std::move(value));
    const std::string to = value_of(get("/api/v1/login/oidc").head, "Location: ");
    return to.substr(to.find('#') + 1);
  };
  const std::string issuer = provider_.issuer();
  const std::string none = "login=unusable";
  EXPECT_EQ(begins("issuer", issuer + "/"), none);
  EXPECT_EQ(begins("issuer", "https://evil.example"), none);
  provider_.set_about("issuer", issuer);
  for (const char* endpoint : {"authorization_endpoint", "token_endpoint", "jwks_uri"}) {
    for (const Json& wrong :
         {Json("http://evil.example/x"), Json("javascript:alert(1)"), Json(""),
          Json("https://a b/"), Json("https://a/\"x"), Json("file:///etc/passwd"), Json()}) {
      EXPECT_EQ(begins(endpoint, wrong), none) << endpoint << " " << wrong.dump();
    }
    provider_.set_about(endpoint, issuer + "/right");
  }
  EXPECT_EQ(begins("code_challenge_methods_supported", list_of({"plain"})), none);
  provider_.set_about("code_challenge_methods_supported", list_of({"plain", "S256"}));
  // What is not needed is left out.
  EXPECT_NE(begins("end_session_endpoint", "javascript:alert(1)"), none);
  EXPECT_TRUE(json_of(get("/api/v1/login"))["provider"]["sign_out"].is_null());
}

TEST_F(OidcLoginTest, ASecretGoesIntoTheFormWhereTheProviderWantsThat) {
  provider_.set_about("token_endpoint_auth_methods_supported", list_of({"client_secret_post"}));
  link();
  EXPECT_EQ(log_in_outcome(), "ok");
  EXPECT_EQ(provider_.last_authorization(), "");
  const auto form = provider_.last_form();
  EXPECT_NE(std::find(form.begin(), form.end(),
                      std::pair<std::string, std::string>("client_secret", "s&cret")),
            form.end());
}

TEST_F(OidcLoginTest, AProviderThatIsNotThereIsTold) {
  HostedOptions options = with_provider();
  options.oidc->issuer = "http://127.0.0.1:1";
  options.oidc->retry_pace = std::chrono::hours(1);
  start(options);
  for (int i = 0; i < 2; ++i) {
    const net::Response begun = get("/api/v1/login/oidc");
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(value_of(begun.head, "Location: "), "./../../../#login=unavailable") << log_;
  }
  EXPECT_TRUE(json_of(get("/api/v1/login"))["provider"]["sign_out"].is_null());
}

TEST_F(OidcLoginTest, AnAdminWhoCanComeThatWayNeedsNoFirstLink) {
  EXPECT_NE(server_->first_link(), "");
  expect(Claim::Email, "ada@example.org");
  ASSERT_TRUE(people()->set_role(ada_, workspace("lab"), Role::Admin));
  start(with_provider());
  EXPECT_EQ(server_->first_link(), "");
  start();
  EXPECT_NE(server_->first_link(), "") << "without the provider there is no way in";
  EXPECT_TRUE(json_of(get("/api/v1/login"))["provider"].is_null());
  EXPECT_EQ(get("/api/v1/login/oidc").status, 401);
}

TEST(OidcSettingsTest, WhatCannotBeMeantIsRefused) {
  const auto makes = [](const char* issuer, bool allow_plain_http, const char* client = "gpufl",
                        const char* ca_file = "") {
    return OidcProvider::make({.issuer = issuer,
                               .client_id = client,
                               .ca_file = ca_file,
                               .allow_plain_http = allow_plain_http})
        .status();
  };
  EXPECT_TRUE(makes("https://id.example/realms/x", false));
  EXPECT_TRUE(makes("http://localhost:3000", true));
  EXPECT_FALSE(makes("http://localhost:3000", false));
  EXPECT_FALSE(makes("http://id.example", true)) << "others can read that on the way";
  for (const char* none :
       {"", "id.example", "https://", "https://id.example?x=1", "https://id.example/#x",
        "https://user@id.example", "ftp://id.example"}) {
    EXPECT_FALSE(makes(none, true)) << none;
  }
  EXPECT_FALSE(makes("https://id.example", false, ""));
  EXPECT_FALSE(makes("https://id.example", false, "gpufl", "/no/such/file"));
}

}  // namespace
}  // namespace gpufl::hosting
