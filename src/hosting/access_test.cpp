// SPDX-License-Identifier: Apache-2.0
#include "hosting/access.hpp"

#include <gtest/gtest.h>

#include <set>

#include "hosting/rate_limiter.hpp"
#include "hosting/test_host.hpp"

namespace gpufl::hosting {
namespace {

using base::Json;
using store::Role;
using store::Scope;

class AccessTest : public testing::HostTest {};

// Who asks, and what they may: of the workspace "lab", which the tests below ask for.
struct Asker {
  const char* name;
  std::string headers;
  bool is_somebody, is_person, is_key, is_of_lab, may_send, may_read;
  std::optional<Role> role;
};

bool is_allowed(Need need, const Asker& asker, bool is_of_workspace) {
  switch (need) {
    case Need::Nothing: return true;
    case Need::Person: return asker.is_person;
    case Need::Guest: return false;  // share_test.cpp
    case Need::Sender: return asker.may_send;
    case Need::AnyKey: return asker.is_key;
    case Need::Reader: return is_of_workspace && asker.may_read;
    case Need::Member: return is_of_workspace && asker.role && *asker.role >= Role::Member;
    case Need::Admin: return is_of_workspace && asker.role && *asker.role >= Role::Admin;
  }
  return false;
}

std::string filled(std::string pattern, const std::string& workspace, const std::string& session) {
  const auto replace = [&](const std::string& what, const std::string& with) {
    const size_t at = pattern.find(what);
    if (at != std::string::npos) pattern.replace(at, what.size(), with);
  };
  replace("{workspace}", workspace);
  replace("{session}", session);
  while (pattern.find('{') != std::string::npos) {
    const size_t at = pattern.find('{');
    pattern.replace(at, pattern.find('}', at) - at + 1, "999");
  }
  return pattern;
}

// Every endpoint there is, with every kind of caller. Whoever may not gets a refusal that says
// nothing of what there is.
TEST_F(AccessTest, NoEndpointTellsAnybodyWhatTheyMayNotKnow) {
  HostedOptions trusting = options();
  trusting.proxy = {.header = "X-Remote-User", .peers = {"127.0.0.1"}};
  start(trusting);
  const std::string sender = make_key("lab", Scope::Ingest).text;
  wait_for(200, [&] { return get("/api/v1/ingest", bearer(sender)); });
  send_session(sender, id_);
  const std::string reader = make_key("lab", Scope::Read).text;
  const std::string expired = make_key("lab", Scope::Read, now_ms() - 1000).text;
  const store::People::NewKey revoked = make_key("lab", Scope::Read);
  ASSERT_TRUE(people()->revoke_key(workspace("lab"), revoked.id));
  const std::string origin = own_origin();
  const std::string disabled = make_login("dan", "lab", Role::Admin);
  {
    const auto admin = people();
    ASSERT_TRUE(admin->set_disabled(admin->directory()->user_named("dan")->id, true));
  }
  const auto named = [&](const std::string& user) {
    return "X-Remote-User: " + user + "\r\n" + origin;
  };
  const std::vector<Asker> askers = {
      {"nobody", "", false, false, false, false, false, false, {}},
      {"no key", bearer("gpfl_1234"), false, false, false, false, false, false, {}},
      {"expired", bearer(expired), false, false, false, false, false, false, {}},
      {"revoked", bearer(revoked.text), false, false, false, false, false, false, {}},
      {"a cookie of nobody",
       "Cookie: gpufl_session_" + std::to_string(port_) + "=abc\r\n" + origin,
       false,
       false,
       false,
       false,
       false,
       false,
       {}},
      {"ingest of another",
       bearer(make_key("other", Scope::Ingest).text),
       true,
       false,
       true,
       false,
       true,
       false,
       {}},
      {"read of another",
       bearer(make_key("other", Scope::Read).text),
       true,
       false,
       true,
       false,
       false,
       true,
       {}},
      {"admin of another", make_login("eve", "other", Role::Admin) + origin, true, true, false,
       false, false, true, Role::Admin},
      {"ingest", bearer(sender), true, false, true, true, true, false, {}},
      {"read", bearer(reader), true, false, true, true, false, true, {}},
      {"viewer", make_login("vic", "lab", Role::Viewer) + origin, true, true, false, true, false,
       true, Role::Viewer},
      {"member", make_login("max", "lab", Role::Member) + origin, true, true, false, true, false,
       true, Role::Member},
      {"disabled", disabled + origin, false, false, false, false, false, false, {}},
      {"named and disabled", named("dan"), false, false, false, false, false, false, {}},
      {"named nobody", named("nobody"), false, false, false, false, false, false, {}},
      {"named twice",
       named("vic") + "X-Remote-User: ada\r\n",
       false,
       false,
       false,
       false,
       false,
       false,
       {}},
      {"named viewer", named("vic"), true, true, false, true, false, true, Role::Viewer},
      {"named viewer with an admin's cookie", make_login("ada", "lab", Role::Admin) + named("vic"),
       true, true, false, true, false, true, Role::Viewer},
      {"named admin of another", named("eve"), true, true, false, false, false, true, Role::Admin},
      {"named viewer behind Basic", named("vic") + "Authorization: Basic YTpi\r\n", true, true,
       false, true, false, true, Role::Viewer},
      {"admin", make_login("ada", "lab", Role::Admin) + origin, true, true, false, true, false,
       true, Role::Admin},
  };
  wait_for(200, [&] { return get("/w/lab/api/v1/audit", askers.back().headers); });
  wait_for(200, [&] { return get("/w/lab/api/v1/sessions/" + id_, bearer(reader)); });
  wait_for(200, [&] { return get("/w/other/api/v1/audit", askers[7].headers); });
  // Whatever is in an answer to somebody else has leaked.
  const std::vector<std::string> secrets = {"key of lab", "test", "scope_1", "ada", "node1"};

  struct Question {
    Need need;
    std::string method, path;
    bool is_of_lab;
  };
  std::vector<Question> questions;
  std::vector<HostedRoutes::Row> changing;  // much: who may does not ask for these
  for (const HostedRoutes::Row& row : server_->rows()) {
    if (row.pattern.find("/logout") != std::string::npos ||
        row.pattern.find("/received/") != std::string::npos) {
      changing.push_back(row);
      continue;
    }
    questions.push_back(
        {row.need, row.method, filled(row.pattern, "lab", id_), row.pattern.starts_with("/w/")});
  }
  const Json document = json_of(get("/w/lab/api/v1/openapi.json", bearer(reader)));
  ASSERT_GT(document["paths"].members().size(), 30U);
  for (const auto& [path, item] : document["paths"].members()) {
    for (const auto& [method, operation] : item.members()) {
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      questions.push_back({upper == "GET" ? Need::Reader : Need::Member, upper,
                           "/w/lab" + filled(path, "", id_), true});
    }
  }
  for (const std::string& path :
       {std::string("/"), std::string("/metrics"), std::string("/assets/x.js"),
        std::string("/healthz"), "/api/v1/sessions/" + id_ + "/windows/device.1.log.zst",
        "/api/v1/sessions/" + id_ + "/export?format=json"}) {
    questions.push_back({Need::Reader, "GET", "/w/lab" + path, true});
  }
  questions.push_back({Need::Reader, "GET", "/w/no-such-workspace/api/v1/sessions", true});

  for (const Question& question : questions) {
    const bool is_stream = question.path.ends_with("/events");  // it does not end
    const bool is_missing = question.path.find("no-such") != std::string::npos;
    for (const Asker& asker : askers) {
      const std::string what =
          std::string(asker.name) + " " + question.method + " " + question.path;
      const bool may =
          !is_missing && is_allowed(question.need, asker, !question.is_of_lab || asker.is_of_lab);
      if (is_stream && may) continue;
      const net::Response response = ask(question.method, question.path, asker.headers);
      if (!asker.is_of_lab) {
        // Also where they may ask: about what is their own.
        for (const std::string& secret : {std::string("key of lab"), std::string("scope_1"), id_}) {
          const bool is_asked_for = question.path.find(secret) != std::string::npos;
          EXPECT_TRUE(is_asked_for || response.body.find(secret) == std::string::npos)
              << what << response.body;
        }
      }
      if (may) {
        EXPECT_NE(response.status, 401) << what;
        EXPECT_TRUE(response.status != 403 || question.need == Need::Nothing) << what;
        continue;
      }
      EXPECT_TRUE(response.status == 401 || response.status == 403 || response.status == 404)
          << what << ": " << response.status;
      if (!asker.is_somebody) {
        EXPECT_EQ(response.status, 401) << what;
      }
      // A workspace that one has nothing to do with is like one that does not exist.
      if (asker.is_somebody && question.is_of_lab && (!asker.is_of_lab || is_missing)) {
        EXPECT_EQ(response.status, 404) << what;
      }
      for (const std::string& secret : secrets) {
        EXPECT_EQ(response.body.find(secret), std::string::npos) << what << response.body;
      }
    }
  }
  // What another key asks at the root is about its own workspace.
  const net::Response own = get("/api/v1/sessions", askers[6].headers);
  EXPECT_EQ(own.status, 200);
  EXPECT_EQ(own.body.find(id_), std::string::npos);
  EXPECT_EQ(get("/api/v1/ingest/sessions/" + id_, askers[5].headers).status, 404);
  EXPECT_GE(changing.size(), 5U);
  for (const HostedRoutes::Row& row : changing) {
    const bool is_of_lab = row.pattern.starts_with("/w/");
    for (const Asker& asker : askers) {
      if (is_allowed(row.need, asker, !is_of_lab || asker.is_of_lab)) continue;
      const int expected = !asker.is_somebody ? 401 : is_of_lab && !asker.is_of_lab ? 404 : 403;
      EXPECT_EQ(ask(row.method, filled(row.pattern, "lab", id_), asker.headers).status, expected)
          << asker.name << " " << row.method << " " << row.pattern;
    }
  }
  EXPECT_EQ(json_of(get("/api/v1/ingest/sessions/" + id_, bearer(sender)))["state"].as_string(),
            "open");
  const std::lock_guard lock(mutex_);
  for (const std::string& secret : {sender, reader, expired, revoked.text}) {
    EXPECT_EQ(log_.find(secret), std::string::npos) << "a key is in the log";
  }
}

TEST_F(AccessTest, TheFirstLinkMakesAnAdminOnce) {
  const std::string link = server_->first_link();
  const std::string token = link.substr(link.find("#invitation=") + 12);
  EXPECT_EQ(token.size(), 64U);
  const auto body = [&](const std::string& password) {
    return Json::object().set("token", token).set("password", password);
  };
  EXPECT_EQ(post_json("/api/v1/invitation", body("short")).status, 400);
  const net::Response done = post_json("/api/v1/invitation", body(testing::kPassword));
  EXPECT_EQ(done.status, 200) << done.body;
  EXPECT_NE(done.head.find("HttpOnly; SameSite=Strict"), std::string::npos) << done.head;
  EXPECT_EQ(json_of(done)["user"].as_string(), "admin");
  EXPECT_EQ(json_of(done)["workspaces"].items().at(0)["role"].as_string(), "admin");
  EXPECT_EQ(post_json("/api/v1/invitation", body(testing::kPassword)).status, 401);
  start();
  EXPECT_EQ(server_->first_link(), "");
  const auto log_in = [&](const std::string& user, const std::string& password) {
    return post_json("/api/v1/login", Json::object().set("user", user).set("password", password));
  };
  EXPECT_EQ(log_in("admin", "wrong password").status, 401);
  EXPECT_EQ(log_in("nobody", testing::kPassword).status, 401);
  const net::Response in = log_in("admin", testing::kPassword);
  ASSERT_EQ(in.status, 200);
  const size_t at = in.head.find("Set-Cookie: ") + 12;
  const std::string cookie = "Cookie: " + in.head.substr(at, in.head.find(';', at) - at) + "\r\n";
  EXPECT_EQ(get("/api/v1/me", cookie).status, 200);
  EXPECT_EQ(get("/w/default/api/v1/sessions", cookie).status, 200);
  const auto change = [&](const std::string& old) {
    return post_json("/api/v1/password",
                     Json::object().set("old", old).set("new", "another long password"),
                     cookie + own_origin());
  };
  EXPECT_EQ(change("wrong password").status, 403);
  EXPECT_EQ(change(testing::kPassword).status, 200);
  EXPECT_EQ(get("/api/v1/me", cookie).status, 401) << "other logins end with the password";
}

TEST_F(AccessTest, PagesOfOtherSitesCanDoNothing) {
  const std::string member = make_login("max", "lab", Role::Member);
  wait_for(200, [&] { return get("/w/lab/api/v1/keys", member); });
  const Json key = Json::object().set("label", "x").set("scope", "read");
  const auto make = [&](const std::string& headers) {
    return post_json("/w/lab/api/v1/keys", key, member + headers).status;
  };
  EXPECT_EQ(make("Origin: https://evil.example\r\n"), 403);
  EXPECT_EQ(make("Origin: null\r\n"), 403);
  EXPECT_EQ(make("Sec-Fetch-Site: cross-site\r\n"), 403);
  EXPECT_EQ(make("Sec-Fetch-Site: same-site\r\n"), 403);
  EXPECT_EQ(make(""), 403) << "nothing says that it is a page of the server's own";
  EXPECT_EQ(make("Host: evil.example\r\n" + own_origin()), 421);
  EXPECT_EQ(ask("POST", "/w/lab/api/v1/keys",
                member + own_origin() + "Content-Type: text/plain\r\n", key.dump())
                .status,
            415);
  EXPECT_EQ(make(own_origin()), 201);
  EXPECT_EQ(make("Sec-Fetch-Site: same-origin\r\n"), 201);
  EXPECT_EQ(post_json("/api/v1/login", key, "Origin: https://evil.example\r\n").status, 403);
  EXPECT_EQ(get("/w/lab/api/v1/keys", member + "Sec-Fetch-Site: cross-site\r\n").status, 403);
}

// Names in paths are names: nothing else is reached by them.
TEST_F(AccessTest, SlashesAndDotsInNamesLeadNowhere) {
  const std::string key = make_key("lab", Scope::Ingest).text;
  wait_for(200, [&] { return get("/api/v1/ingest", bearer(key)); });
  send_session(key, id_);
  const std::string admin = make_login("ada", "lab", Role::Admin) + own_origin();
  make_login("eve", "other", Role::Admin);
  wait_for(200, [&] { return get("/w/lab/api/v1/people", admin); });
  const Json role = Json::object().set("role", "viewer");
  for (const std::string& name :
       {std::string(".."), std::string("%2e%2e"), std::string("."), std::string("..%2f.."),
        std::string("..%2fother"), std::string("a%2Fb"), std::string("%2Fetc%2Fpasswd"),
        std::string("a%00b"), std::string("%5c..%5c"), id_ + "%2f..%2f" + id_, id_ + "%2f",
        std::string("0"), std::string("-1"), std::string("1%20OR%201=1"), std::string(2000, 'x')}) {
    const auto expect_nothing = [&](const std::string& method, const std::string& path,
                                    const std::string& headers = "", const std::string& body = "") {
      const net::Response response = ask(method, path, admin + headers, body);
      EXPECT_TRUE(response.status == 404 || response.status == 400 || response.status == 405)
          << method << " " << path << ": " << response.status << response.body;
      EXPECT_EQ(response.body.find(folder_.path().string()), std::string::npos) << response.body;
    };
    expect_nothing("DELETE", "/w/lab/api/v1/received/" + name);
    expect_nothing("POST", "/w/lab/api/v1/received/" + name + "/restore");
    expect_nothing("DELETE", "/w/lab/api/v1/keys/" + name);
    expect_nothing("PUT", "/w/lab/api/v1/people/" + name, "Content-Type: application/json\r\n",
                   role.dump());
    expect_nothing("GET", "/w/" + name + "/api/v1/sessions");
    expect_nothing("GET", "/w/lab/api/v1/sessions/" + name);
    expect_nothing("GET", "/w/lab/api/v1/sessions/" + id_ + "/windows/" + name);
    const net::Response asked = get("/api/v1/ingest/sessions/" + name, bearer(key));
    // 403: with its slash it is another path, which a key that sends may not ask.
    EXPECT_TRUE(asked.status == 404 || asked.status == 400 || asked.status == 403)
        << name << asked.status;
    EXPECT_EQ(asked.body.find("windows"), std::string::npos) << asked.body;
  }
  EXPECT_EQ(json_of(get("/api/v1/ingest/sessions/" + id_, bearer(key)))["state"].as_string(),
            "open");
}

// What is there for all workspaces is not for one, and none hears what the others do.
TEST_F(AccessTest, AWorkspaceHasItsShare) {
  const std::string viewer = make_login("vic", "lab", Role::Viewer);
  const std::string other = make_login("eve", "other", Role::Viewer);
  wait_for(200, [&] { return get("/w/other/api/v1/sessions", other); });
  const std::string metrics = get("/w/lab/metrics", viewer).body;
  EXPECT_NE(metrics.find("gpufl_server_sessions 0"), std::string::npos) << metrics;
  EXPECT_EQ(metrics.find("gpufl_server_connections"), std::string::npos) << metrics;
  EXPECT_EQ(metrics.find("requests_total"), std::string::npos) << metrics;
  const std::string host = "Host: 127.0.0.1:" + std::to_string(port_) + "\r\n";
  const auto follow = [&](const std::string& where, const std::string& headers) {
    auto client = std::make_unique<net::Client>(port_);
    EXPECT_TRUE(
        client->send("GET /w/" + where + "/api/v1/events HTTP/1.1\r\n" + host + headers + "\r\n"));
    return client;
  };
  std::vector<std::unique_ptr<net::Client>> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(follow("lab", viewer));
    EXPECT_NE(clients.back()->read_until("event: hello").find("200 OK"), std::string::npos) << i;
  }
  EXPECT_EQ(get("/w/lab/api/v1/events", viewer).status, 503);
  EXPECT_NE(follow("other", other)->read_until("event: hello").find("200 OK"), std::string::npos);
}

TEST_F(AccessTest, KeysAreShownOnceAndEndAtOnce) {
  const std::string member = make_login("max", "lab", Role::Member) + own_origin();
  const std::string admin = make_login("ada", "lab", Role::Admin) + own_origin();
  wait_for(200, [&] { return get("/w/lab/api/v1/keys", member); });
  wait_for(200, [&] { return get("/w/lab/api/v1/audit", admin); });
  const Json made = json_of(
      post_json("/w/lab/api/v1/keys",
                Json::object().set("label", "laptop").set("scope", "read").set("days", 7), member));
  const std::string text = made["key"].as_string();
  EXPECT_TRUE(store::is_key_text(text));
  EXPECT_EQ(get("/api/v1/sessions", bearer(text)).status, 200);
  const net::Response list = get("/w/lab/api/v1/keys", member);
  EXPECT_EQ(list.body.find(text), std::string::npos);
  EXPECT_EQ(json_of(list)["keys"].items().at(0)["label"].as_string(), "laptop");
  // A key that somebody else made is an admin's to see and to end.
  make_key("lab", Scope::Ingest);
  EXPECT_TRUE(base::eventually(
      [&] { return json_of(get("/w/lab/api/v1/keys", admin))["keys"].items().size() == 2; }));
  const Json all = json_of(get("/w/lab/api/v1/keys", admin));
  EXPECT_EQ(json_of(get("/w/lab/api/v1/keys", member))["keys"].items().size(), 1U);
  const std::string others = "/w/lab/api/v1/keys/" + all["keys"].items().at(1)["id"].as_string();
  EXPECT_EQ(ask("DELETE", others, member).status, 404);
  EXPECT_EQ(ask("DELETE", others, admin).status, 204);
  EXPECT_EQ(ask("DELETE", "/w/lab/api/v1/keys/" + made["id"].as_string(), member).status, 204);
  EXPECT_EQ(get("/api/v1/sessions", bearer(text)).status, 401);
  const Json audit = json_of(get("/w/lab/api/v1/audit", admin));
  std::set<std::string> actions;
  for (const Json& entry : audit["audit"].items()) actions.insert(entry["action"].as_string());
  EXPECT_TRUE(actions.contains("key made") && actions.contains("key revoked"));
}

TEST_F(AccessTest, AnAdminChangesRolesButNotTheirOwn) {
  const std::string admin = make_login("ada", "lab", Role::Admin) + own_origin();
  const std::string viewer = make_login("vic", "lab", Role::Viewer) + own_origin();
  make_login("eve", "other", Role::Admin);
  wait_for(200, [&] { return get("/w/lab/api/v1/people", admin); });
  wait_for(200, [&] { return get("/w/lab/api/v1/sessions", viewer); });
  const auto set = [&](const std::string& user, const Json& role) {
    return ask("PUT", "/w/lab/api/v1/people/" + user, admin + "Content-Type: application/json\r\n",
               Json::object().set("role", role).dump())
        .status;
  };
  EXPECT_EQ(json_of(get("/w/lab/api/v1/people", admin))["people"].items().size(), 2U);
  EXPECT_EQ(set("vic", "member"), 204);
  EXPECT_EQ(get("/w/lab/api/v1/keys", viewer).status, 200);
  EXPECT_EQ(set("vic", Json()), 204);
  EXPECT_EQ(get("/w/lab/api/v1/sessions", viewer).status, 404);
  EXPECT_EQ(set("ada", "viewer"), 409);
  EXPECT_EQ(set("eve", "member"), 404) << "who else there is, is not told";
  EXPECT_EQ(set("nobody", "member"), 404);
  EXPECT_EQ(set("vic", "king"), 400);
}

TEST_F(AccessTest, StreamsEndWithTheRightToHaveThem) {
  const store::People::NewKey key = make_key("lab", Scope::Read);
  const std::string viewer = make_login("vic", "lab", Role::Viewer);
  wait_for(200, [&] { return get("/api/v1/sessions", bearer(key.text)); });
  wait_for(200, [&] { return get("/w/lab/api/v1/sessions", viewer); });
  net::Client by_key(port_), by_login(port_);
  const std::string host = "Host: 127.0.0.1:" + std::to_string(port_) + "\r\n";
  ASSERT_TRUE(by_key.send("GET /api/v1/events HTTP/1.1\r\n" + host + bearer(key.text) + "\r\n"));
  ASSERT_TRUE(by_login.send("GET /w/lab/api/v1/events HTTP/1.1\r\n" + host + viewer + "\r\n"));
  EXPECT_NE(by_key.read_until("event: hello").find("200 OK"), std::string::npos);
  EXPECT_NE(by_login.read_until("event: hello").find("200 OK"), std::string::npos);
  ASSERT_TRUE(people()->revoke_key(workspace("lab"), key.id));
  EXPECT_NE(by_key.read_until("0\r\n\r\n").find("0\r\n\r\n"), std::string::npos);
  const auto admin = people();
  ASSERT_TRUE(admin->set_disabled(admin->directory()->user_named("vic")->id, true));
  EXPECT_NE(by_login.read_until("0\r\n\r\n").find("0\r\n\r\n"), std::string::npos);
}

TEST_F(AccessTest, AProxysWordCountsFromItsAddressOnly) {
  make_login("vic", "lab", Role::Viewer);
  const auto ask_as = [&](const std::string& fields) {
    return get("/w/lab/api/v1/sessions", fields).status;
  };
  EXPECT_EQ(ask_as("X-Remote-User: vic\r\n"), 401) << "no proxy is trusted";
  HostedOptions elsewhere = options();
  elsewhere.proxy = {.header = "X-Remote-User", .peers = {"192.0.2.7"}};
  start(elsewhere);
  EXPECT_EQ(ask_as("X-Remote-User: vic\r\n"), 401) << "it is not the proxy who says so";
  EXPECT_EQ(server_->first_link(), "") << "whoever the proxy calls admin would be one";
  HostedOptions here = options();
  here.proxy = {.header = "X-Remote-User", .peers = {"192.0.2.7", "127.0.0.1"}};
  start(here);
  EXPECT_EQ(ask_as("x-remote-user: vic\r\n"), 200);
  EXPECT_EQ(ask_as("X-Remote-User: nobody\r\n"), 401);
  EXPECT_EQ(ask_as("X-Remote-User:\r\n"), 401);
  EXPECT_EQ(ask_as("X-Remote-User: vic\r\nX-Remote-User: admin\r\n"), 401);
  EXPECT_EQ(ask_as("X-Remote-User: vic, admin\r\n"), 401);
  EXPECT_EQ(ask_as("X_Remote_User: vic\r\n"), 401) << "another name";
  EXPECT_EQ(ask_as("X-Remote-User : vic\r\n"), 400);
  EXPECT_EQ(ask_as("X-Remote-User: vic\r\nAuthorization: Basic YTpi\r\n"), 200);
  EXPECT_EQ(ask_as("X-Remote-User: vic\r\nAuthorization: Bearer gpfl_1\r\n"), 401)
      << "who shows a key means it";
  EXPECT_EQ(ask_as("X-Remote-User: nobody\r\nX-Forwarded-For: 192.0.2.7\r\n"), 401);
  const std::string member = make_login("max", "lab", Role::Member);
  wait_for(200, [&] { return get("/w/lab/api/v1/keys", "X-Remote-User: max\r\n"); });
  const Json key = Json::object().set("label", "x").set("scope", "read");
  EXPECT_EQ(
      post_json("/w/lab/api/v1/keys", key, "X-Remote-User: max\r\nOrigin: https://evil.example\r\n")
          .status,
      403);
  EXPECT_EQ(post_json("/w/lab/api/v1/keys", key, "X-Remote-User: max\r\n").status, 403);
  EXPECT_EQ(post_json("/w/lab/api/v1/keys", key, "X-Remote-User: max\r\n" + own_origin()).status,
            201);
  // What the proxy says counts before a cookie that is left over.
  EXPECT_EQ(get("/w/lab/api/v1/keys", member + "X-Remote-User: vic\r\n").status, 403);
  const auto admin = people();
  ASSERT_TRUE(admin->set_disabled(admin->directory()->user_named("vic")->id, true));
  wait_for(401, [&] { return get("/w/lab/api/v1/sessions", "X-Remote-User: vic\r\n"); });
}

TEST_F(AccessTest, AWorkspaceWithoutASlashLeadsToItsPages) {
  const std::string viewer = make_login("vic", "lab", Role::Viewer);
  wait_for(200, [&] { return get("/w/lab/", viewer); });
  const net::Response page = get("/w/lab", viewer);
  EXPECT_EQ(page.status, 308);
  EXPECT_TRUE(page.has("Location: ./lab/")) << page.head;
  EXPECT_EQ(get("/w/default", viewer).status, 404);
  EXPECT_EQ(get("/w/absent", viewer).status, 404);
}

TEST_F(AccessTest, AKeyCountsAsSoonAsItWasMade) {
  HostedOptions slow = options();
  slow.house_pace = std::chrono::hours(1);
  start(std::move(slow));
  const std::string key = make_key("default", Scope::Ingest).text;
  EXPECT_EQ(get("/api/v1/ingest", bearer(key)).status, 200);
}

TEST_F(AccessTest, WhoOpensAPageWithoutALoginIsLedThere) {
  const std::string accepts = "Accept: text/html\r\n";
  net::Response page = get("/w/lab/", accepts);
  EXPECT_EQ(page.status, 303);
  EXPECT_TRUE(page.has("Location: ./../../?workspace=lab")) << page.head;
  EXPECT_EQ(get("/?workspace=lab").status, 200);
  EXPECT_EQ(get("/w/lab/api/v1/sessions").status, 401);
  page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.head.find("script-src 'self'"), std::string::npos);
  EXPECT_EQ(get("/account.js").status, 200);
}

TEST(RateLimiterTest, FillsAgainAtItsPaceAndForgetsTheOldest) {
  using Clock = RateLimiter::Clock;
  RateLimiter limiter({.per_second = 0.5, .most = 2}, 2);
  const Clock::time_point begin{};
  const auto at = [&](int seconds) { return begin + std::chrono::seconds(seconds); };
  EXPECT_EQ(limiter.take("a", at(0)), 0);
  EXPECT_EQ(limiter.take("a", at(0)), 0);
  EXPECT_EQ(limiter.take("a", at(0)), 2);
  EXPECT_EQ(limiter.take("b", at(0)), 0);
  EXPECT_EQ(limiter.take("a", at(2)), 0);
  EXPECT_EQ(limiter.take("a", at(2)), 2);
  EXPECT_EQ(limiter.take("c", at(3)), 0);  // in the place of b
  EXPECT_EQ(limiter.take("a", at(3)), 1);
}

}  // namespace
}  // namespace gpufl::hosting
