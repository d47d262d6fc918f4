// SPDX-License-Identifier: Apache-2.0
// How people log in with a password, and how often they may try.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "hosting/places.hpp"
#include "hosting/test_host.hpp"

namespace gpufl::hosting {
namespace {

using base::Json;
using store::Role;
using store::Scope;

class LoginTest : public testing::HostTest {};

TEST_F(LoginTest, TooManyTriesAtANameAreRefused) {
  const auto body = Json::object().set("user", "admin").set("password", "x");
  int status = 401;
  for (int i = 0; i < 12 && status == 401; ++i) status = post_json("/api/v1/login", body).status;
  EXPECT_EQ(status, 429);
}

// Whoever tries at somebody's name does not keep them out.
TEST_F(LoginTest, TriesCountForWhereTheyComeFrom) {
  HostedOptions options = this->options();
  options.proxy.peers = {"127.0.0.1", "192.0.2.1"};
  start(options);
  const auto body = Json::object().set("user", "admin").set("password", "x");
  const auto try_from = [&](const std::string& chain) {
    return post_json("/api/v1/login", body, "X-Forwarded-For: " + chain + "\r\n").status;
  };
  int status = 401;
  for (int i = 0; i < 12 && status == 401; ++i) status = try_from("198.51.100.9");
  EXPECT_EQ(status, 429);
  EXPECT_EQ(try_from("203.0.113.5, 198.51.100.9"), 429) << "what a client adds is not believed";
  EXPECT_EQ(try_from("198.51.100.9, 192.0.2.1"), 429) << "a proxy of ours is no client";
  EXPECT_EQ(try_from("198.51.100.10"), 401);
  EXPECT_EQ(try_from("2001:db8::1"), 401);
  for (int i = 0; i < 9; ++i) try_from("2001:db8::" + std::to_string(i + 2));
  EXPECT_EQ(try_from("2001:db8::ffff"), 429) << "a network is one user's";
  EXPECT_EQ(try_from("2001:db8:0:1::1"), 401);
}

TEST_F(LoginTest, AForwardedAddressCountsFromAProxyOnly) {
  const auto body = Json::object().set("user", "admin").set("password", "x");
  int status = 401;
  for (int i = 0; i < 12 && status == 401; ++i) {
    const std::string made_up = "X-Forwarded-For: 198.51.100." + std::to_string(i) + "\r\n";
    status = post_json("/api/v1/login", body, made_up).status;
  }
  EXPECT_EQ(status, 429);
}

TEST(PlacesTest, AFewWaitAndTheOthersAreTold) {
  Places turns(1, 1, std::chrono::minutes(1));
  std::optional<Places::Place> first(std::in_place, turns);
  EXPECT_TRUE(*first);
  std::atomic<bool> has_waited = false;
  std::thread second([&] { has_waited = static_cast<bool>(Places::Place(turns)); });
  // Until the second waits, this one would wait too; then there is no room.
  EXPECT_TRUE(base::eventually([&] { return turns.waiting() == 1; }));
  EXPECT_FALSE(Places::Place(turns));
  first.reset();
  second.join();
  EXPECT_TRUE(has_waited);
  Places hasty(1, 1, std::chrono::milliseconds(1));
  const Places::Place taken(hasty);
  EXPECT_FALSE(Places::Place(hasty));
}

TEST_F(LoginTest, AStrangersBodyIsShort) {
  const std::string long_body(size_t{20} << 10, 'x');
  EXPECT_EQ(ask("POST", "/api/v1/login", "Content-Type: application/json\r\n", long_body).status,
            413);
  EXPECT_EQ(
      ask("POST", "/api/v1/invitation", "Content-Type: application/json\r\n", long_body).status,
      413);
  EXPECT_EQ(ask("POST", "/api/v1/login", "Content-Type: application/json\r\n",
                long_body.substr(0, 10'000))
                .status,
            400);
  const std::string member = make_login("max", "lab", Role::Member) + own_origin();
  wait_for(200, [&] { return get("/w/lab/api/v1/keys", member); });
  EXPECT_EQ(
      ask("POST", "/w/lab/api/v1/keys", member + "Content-Type: application/json\r\n", long_body)
          .status,
      400);
  const std::string far_too_long(size_t{2} << 20, 'x');
  EXPECT_EQ(ask("POST", "/w/lab/api/v1/keys", member, far_too_long).status, 413);
}

TEST_F(LoginTest, ALoginBehindABasicProxy) {
  const std::string member = make_login("max", "lab", Role::Member);
  const std::string basic = "Authorization: Basic bWF4OnNlY3JldA==\r\n";
  wait_for(200, [&] { return get("/w/lab/api/v1/keys", member + basic); });
  const Json key = Json::object().set("label", "x").set("scope", "read");
  EXPECT_EQ(post_json("/w/lab/api/v1/keys", key, member + basic).status, 403) << "no origin";
  EXPECT_EQ(post_json("/w/lab/api/v1/keys", key, member + basic + own_origin()).status, 201);
  // Whatever stands there, an open path is for this server's pages.
  const Json login = Json::object().set("user", "max").set("password", "x");
  const std::string evil = "Origin: https://evil.example\r\n";
  EXPECT_EQ(post_json("/api/v1/login", login, basic + evil).status, 403);
  EXPECT_EQ(post_json("/api/v1/login", login, bearer("gpfl_1234") + evil).status, 403);
  EXPECT_EQ(get("/api/v1/login", basic + "Host: evil.example\r\n").status, 421);
  EXPECT_EQ(get("/w/lab/", basic + "Accept: text/html\r\n").status, 303);
}

// Another server on this host, or a host beside it, can set a cookie of the same name.
TEST_F(LoginTest, AShadowedCookieCounts) {
  const std::string mine = make_login("vic", "lab", Role::Viewer);
  const std::string secret = mine.substr(8, mine.size() - 10);
  const std::string name = secret.substr(0, secret.find('='));
  wait_for(200, [&] { return get("/w/lab/api/v1/sessions", mine); });
  EXPECT_EQ(get("/w/lab/api/v1/sessions", "Cookie: " + name + "=abc; " + secret + "\r\n").status,
            200);
  EXPECT_EQ(get("/w/lab/api/v1/sessions", "Cookie: " + secret + "; " + name + "=abc\r\n").status,
            200);
  HostedOptions behind = options();
  behind.server.public_url = *server::parse_public_url("https://gpu.example.org");
  start(behind);
  const std::string host = "Host: gpu.example.org\r\n";
  const std::string port = std::to_string(port_);
  const std::string again = make_login("vic", "lab", Role::Viewer);
  const std::string value = again.substr(again.find('=') + 1);
  EXPECT_EQ(
      get("/w/lab/api/v1/sessions", host + "Cookie: gpufl_session_" + port + "=" + value).status,
      401)
      << "any host of the domain can set that";
  wait_for(200, [&] {
    return get("/w/lab/api/v1/sessions",
               host + "Cookie: __Host-gpufl_session_" + port + "=" + value);
  });
}

TEST_F(LoginTest, WhatIsWrittenDownIsInTheAuditLog) {
  const std::string key = make_key("lab", Scope::Ingest).text;
  wait_for(200, [&] { return get("/api/v1/ingest", bearer(key)); });
  send_session(key, id_);
  make_login("max", "lab", Role::Member);
  ASSERT_TRUE(
      people()->set_password(people()->directory()->user_named("max")->id, testing::kPassword));
  const std::string member = make_login("max", "lab", Role::Member) + own_origin();
  const std::string admin = make_login("ada", "lab", Role::Admin) + own_origin();
  const std::string notes = "/w/lab/api/v1/sessions/" + id_ + "/notes";
  wait_for(200, [&] { return get(notes, member); });
  EXPECT_LT(ask("PUT", notes, member + "Content-Type: application/json\r\n",
                R"({"text":"slow","tags":[]})")
                .status,
            300);
  const net::Response in = post_json(
      "/api/v1/login", Json::object().set("user", "max").set("password", testing::kPassword));
  ASSERT_EQ(in.status, 200) << in.body;
  const size_t at = in.head.find("Set-Cookie: ") + 12;
  const std::string cookie = "Cookie: " + in.head.substr(at, in.head.find(';', at) - at) + "\r\n";
  EXPECT_EQ(post_json("/api/v1/logout", Json::object(), cookie + own_origin()).status, 204);
  EXPECT_EQ(
      post_json("/api/v1/login", Json::object().set("user", "max").set("password", "wrong")).status,
      401);
  const auto has = [&](const std::string& action) {
    const Json audit = json_of(get("/w/lab/api/v1/audit", admin));
    for (const Json& entry : audit["audit"].items()) {
      if (entry["action"].as_string() == action && entry["actor"].as_string() == "max") return true;
    }
    return false;
  };
  for (const char* action : {"changed", "logged in", "logged out"})
    EXPECT_TRUE(has(action)) << action;
  EXPECT_TRUE(base::eventually([&] { return has("login refused"); }));
}

TEST_F(LoginTest, WhatCannotBeWrittenDownNowIsLater) {
  const std::string admin = make_login("ada", "lab", Role::Admin);
  wait_for(200, [&] { return get("/w/lab/api/v1/audit", admin); });
  auto other = store::SqliteCatalogue::open(store::catalogue_file(folder_.path() / "data"));
  ASSERT_TRUE(other && (*other)->database().run("BEGIN IMMEDIATE"));
  const auto body = Json::object().set("user", "ada").set("password", "wrong");
  EXPECT_EQ(post_json("/api/v1/login", body).status, 401);
  EXPECT_TRUE(base::eventually([&] {
    const std::lock_guard lock(mutex_);
    return log_.find("the audit log could not be written") != std::string::npos;
  }));
  ASSERT_TRUE((*other)->database().run("ROLLBACK"));
  EXPECT_TRUE(base::eventually([&] {
    return get("/w/lab/api/v1/audit", admin).body.find("login refused") != std::string::npos;
  }));
}

// An existing user of that name is not made an admin by a start alone.
TEST_F(LoginTest, TheFirstLinkGivesNothingUntilItIsTaken) {
  const auto beside = people();
  EXPECT_TRUE(beside->directory()->user_named("admin")->roles.empty());
  start();
  EXPECT_TRUE(people()->directory()->user_named("admin")->roles.empty());
  const std::string link = server_->first_link();
  const std::string token = link.substr(link.find("#invitation=") + 12);
  ASSERT_EQ(post_json("/api/v1/invitation",
                      Json::object().set("token", token).set("password", testing::kPassword))
                .status,
            200);
  EXPECT_EQ(people()->directory()->user_named("admin")->roles.size(), 1U);
}

}  // namespace
}  // namespace gpufl::hosting
