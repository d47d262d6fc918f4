// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "hosting/shared_path.hpp"
#include "hosting/test_share.hpp"

namespace gpufl::hosting {
namespace {

using base::Json;
using store::Role;
using store::Scope;

class ShareTest : public testing::ShareTest {
 protected:
  std::set<std::string> audited() {
    std::set<std::string> actions;
    const Json log = json_of(get("/w/lab/api/v1/audit", admin_));
    for (const Json& entry : log["audit"].items()) {
      actions.insert(entry["action"].as_string());
    }
    return actions;
  }
};

TEST_F(ShareTest, ThereAreNoLinksUntilAnAdminTurnsThemOn) {
  send_one();
  const std::string viewer = make_login("vic", "lab", Role::Viewer) + own_origin();
  const std::string reader = make_key("lab", Scope::Read).text;
  wait_for(200, [&] { return get("/w/lab/api/v1/sessions", viewer); });
  wait_for(200, [&] { return get("/w/lab/api/v1/sessions", bearer(reader)); });
  const auto make = [&](const std::string& who) {
    return post_json("/w/lab/api/v1/shares", wanted(id_), who).status;
  };
  EXPECT_FALSE(json_of(get("/w/lab/api/v1/sharing", member_))["is_on"].as_bool(true));
  EXPECT_EQ(make(member_), 409);
  EXPECT_EQ(make(admin_), 409);
  EXPECT_EQ(turn(true, member_).status, 403);
  EXPECT_EQ(turn(true, bearer(reader)).status, 403);
  EXPECT_EQ(turn(true, admin_).status, 204);
  EXPECT_TRUE(json_of(get("/w/lab/api/v1/sharing", member_))["is_on"].as_bool());
  EXPECT_EQ(make(viewer), 403);
  EXPECT_EQ(make(bearer(reader)), 403);
  EXPECT_EQ(make(""), 401);
  EXPECT_EQ(make(member_), 201);
  const std::string without_origin = make_login("max", "lab", Role::Member);
  wait_for(200, [&] { return get("/w/lab/api/v1/keys", without_origin); });
  EXPECT_EQ(make(without_origin), 403);
  EXPECT_EQ(make(without_origin + "Origin: https://evil.example\r\n"), 403);
  const Json mine = json_of(get("/w/lab/api/v1/shares", member_))["shares"];
  ASSERT_EQ(mine.items().size(), 1U);
  EXPECT_EQ(mine.items()[0]["session"].as_string(), id_);
  EXPECT_FALSE(mine.items()[0]["source"].as_bool(true));
  EXPECT_EQ(make(admin_), 201);
  EXPECT_EQ(json_of(get("/w/lab/api/v1/shares", member_))["shares"].items().size(), 1U);
  EXPECT_EQ(json_of(get("/w/lab/api/v1/shares?session=" + id_, admin_))["shares"].items().size(),
            2U);
  EXPECT_TRUE(json_of(get("/w/lab/api/v1/shares?session=x", admin_))["shares"].items().empty());
}

TEST_F(ShareTest, WhatIsAskedForIsChecked) {
  send_one();
  ASSERT_EQ(turn(true, admin_).status, 204);
  const auto make = [&](const char* body) {
    const auto parsed = Json::parse(body);
    Json asked = wanted(id_);
    for (const auto& [name, value] : parsed->members()) asked.set(name, value);
    return post_json("/w/lab/api/v1/shares", asked, member_).status;
  };
  EXPECT_EQ(make(R"({"hours": 0})"), 400);
  EXPECT_EQ(make(R"({"hours": 2161})"), 400);
  EXPECT_EQ(make(R"({"hours": "1"})"), 400);
  EXPECT_EQ(make(R"({"source": "yes"})"), 400);
  EXPECT_EQ(make(R"({"source": 1})"), 400);
  EXPECT_EQ(make(R"({"files": true})"), 400) << "they have the rest in them";
  EXPECT_EQ(make(R"({"files": true, "source": true})"), 400);
  EXPECT_EQ(make(R"({"session": ""})"), 400);
  EXPECT_EQ(make(R"({"session": "20261115T034512Z-0000000000000099"})"), 404);
  EXPECT_EQ(make(R"({"hours": 2160, "files": true, "source": true, "command": true})"), 201);
  EXPECT_EQ(ask("PUT", "/w/lab/api/v1/sharing", admin_ + "Content-Type: application/json\r\n",
                R"({"is_on":1})")
                .status,
            400);
  EXPECT_EQ(ask("POST", "/w/lab/api/v1/shares", member_ + "Content-Type: text/plain\r\n",
                wanted(id_).dump())
                .status,
            415);
}

// Whatever is wrong with a link, who shows it is told the same.
TEST_F(ShareTest, ALinkThatDoesNotCountTellsNothing) {
  send_one();
  ASSERT_EQ(turn(true, admin_).status, 204);
  const Link good = make_link(wanted(id_));
  const Link revoked = make_link(wanted(id_));
  const std::string cookie_before = guest_of(revoked);
  EXPECT_EQ(ask("DELETE", "/w/lab/api/v1/shares/" + revoked.id, member_).status, 204);
  const Link expired = make_link_until(now_ms() - 1);
  std::string wrong = good.token;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  std::string plain;
  for (const std::string& token : {wrong, revoked.token, expired.token, std::string("x"),
                                   std::string(), std::string(2000, 'a'), good.id}) {
    const net::Response refused = open_link(token);
    EXPECT_EQ(refused.status, 401) << token;
    EXPECT_EQ(refused.head.find("Set-Cookie"), std::string::npos);
    if (plain.empty()) plain = refused.body;
    EXPECT_EQ(refused.body, plain);
  }
  const std::string good_cookie = guest_of(good);
  EXPECT_EQ(get(below(good, "/api/v1/sessions"), good_cookie).status, 200);
  std::string of_another = good_cookie;
  char& last = of_another[of_another.size() - 3];  // before the end of the line
  last = last == '0' ? '1' : '0';
  for (const char* path :
       {"/", "/api/v1/sessions", "/api/v1/shared", "/api/v1/events", "/metrics"}) {
    for (const auto& [link, cookie] :
         {std::pair(revoked, cookie_before), std::pair(good, of_another),
          std::pair(expired, good_cookie), std::pair(good, std::string()),
          std::pair(Link{"0123456789abcdef", ""}, good_cookie)}) {
      const net::Response refused = get(below(link, path), cookie);
      EXPECT_EQ(refused.status, 401) << path;
      EXPECT_EQ(refused.body, plain);
    }
  }
  const net::Response page = get(below(revoked), cookie_before + "Accept: text/html\r\n");
  EXPECT_EQ(page.status, 303);
  EXPECT_TRUE(page.has("Location: ./../../#shared=")) << page.head;
  EXPECT_EQ(turn(false, admin_).status, 204);
  EXPECT_EQ(open_link(good.token).body, plain);
  EXPECT_EQ(get(below(good, "/api/v1/sessions"), good_cookie).body, plain);
}

TEST_F(ShareTest, TheCookieIsOfThatLinkAlone) {
  send_one();
  ASSERT_EQ(turn(true, admin_).status, 204);
  const Link link = make_link(wanted(id_).set("hours", 2));
  const Link other = make_link(wanted(id_));
  const net::Response opened = open_link(link.token);
  EXPECT_EQ(json_of(opened)["page"].as_string(), "shared/" + link.id + "/#/s/" + id_);
  const std::string path = "; Path=/shared/" + link.id + "/; Max-Age=";
  EXPECT_NE(opened.head.find(path), std::string::npos) << opened.head;
  EXPECT_NE(opened.head.find("; HttpOnly; SameSite=Strict"), std::string::npos);
  EXPECT_EQ(opened.head.find("Secure"), std::string::npos) << "nothing encrypts it here";
  EXPECT_EQ(opened.head.find(link.token), std::string::npos) << "nor is the token kept";
  const std::string guest = cookie_of(opened);
  EXPECT_EQ(get(below(link), guest).status, 200);
  EXPECT_EQ(get(below(link, "/api/v1/sessions/" + id_), guest).status, 200);
  const Json shared = json_of(get(below(link, "/api/v1/shared"), guest));
  EXPECT_EQ(shared["session"].as_string(), id_);
  EXPECT_FALSE(shared["files"].as_bool(true));
  // It opens nothing else, and nothing else opens what is below the link.
  for (const char* elsewhere : {"/api/v1/me", "/w/lab/api/v1/sessions", "/w/lab/api/v1/shares",
                                "/api/v1/ingest", "/w/lab/"}) {
    EXPECT_EQ(get(elsewhere, guest).status, 401) << elsewhere;
  }
  EXPECT_EQ(get(below(other, "/api/v1/sessions"), guest).status, 401);
  EXPECT_EQ(get(below(link, "/api/v1/sessions"), admin_).status, 401);
  EXPECT_EQ(get(below(link, "/api/v1/sessions"), bearer(make_key("lab", Scope::Read).text)).status,
            401);
  EXPECT_EQ(get(below(link, "/api/v1/sessions"), bearer(link.token)).status, 401);
  EXPECT_EQ(get("/shared", guest).status, 401);
  EXPECT_EQ(get("/shared/" + link.id, guest).status, 404);
  EXPECT_EQ(get("/sharedx", guest).status, 401);
  // Pages of other sites can use it for nothing, and it changes nothing.
  EXPECT_EQ(get(below(link, "/api/v1/sessions"), guest + "Sec-Fetch-Site: cross-site\r\n").status,
            403);
  EXPECT_EQ(get(below(link, "/api/v1/sessions"), guest + "Origin: https://evil.example\r\n").status,
            403);
  EXPECT_EQ(get(below(link, "/api/v1/sessions"), guest + "Host: evil.example\r\n").status, 421);
  EXPECT_EQ(open_link(link.token, "Origin: https://evil.example\r\n").status, 403);
  for (const char* method : {"PUT", "POST", "DELETE", "PATCH"}) {
    const net::Response refused = ask(method, below(link, "/api/v1/sessions/" + id_ + "/notes"),
                                      guest + own_origin() + "Content-Type: application/json\r\n",
                                      R"({"text":"by a guest"})");
    EXPECT_TRUE(refused.status == 403 || refused.status == 405 || refused.status == 501)
        << method << refused.status;
  }
  EXPECT_EQ(get("/w/lab/api/v1/sessions/" + id_ + "/notes", member_).body.find("guest"),
            std::string::npos);
}

TEST_F(ShareTest, OverHttpsTheCookieIsSecureAndBelowThePrefix) {
  HostedOptions behind = options();
  behind.server.public_url = *server::parse_public_url("https://gpu.example.org/lab");
  start(behind);
  prepare();
  send_one();
  ASSERT_EQ(turn(true, admin_).status, 204);
  const net::Response made = post_json("/w/lab/api/v1/shares", wanted(id_), member_);
  const std::string link = json_of(made)["link"].as_string();
  const std::string address = "https://gpu.example.org/lab/#shared=";
  ASSERT_TRUE(link.starts_with(address)) << link;
  const net::Response opened = open_link(link.substr(address.size()), "Host: gpu.example.org\r\n");
  ASSERT_EQ(opened.status, 200) << opened.body;
  const std::string cookie = "Set-Cookie: __Secure-gpufl_shared_" + std::to_string(port_) + "=";
  EXPECT_NE(opened.head.find(cookie), std::string::npos) << opened.head;
  const std::string id = json_of(made)["id"].as_string();
  EXPECT_NE(opened.head.find("; Path=/lab/shared/" + id + "/; Max-Age="), std::string::npos);
  EXPECT_NE(opened.head.find("; HttpOnly; SameSite=Strict; Secure\r\n"), std::string::npos);
  const std::string guest = cookie_of(opened) + "Host: gpu.example.org\r\n";
  EXPECT_EQ(get("/lab/shared/" + id + "/api/v1/sessions/" + id_, guest).status, 200);
}

TEST_F(ShareTest, WhoMadeALinkOrAnAdminEndsIt) {
  send_one();
  ASSERT_EQ(turn(true, admin_).status, 204);
  const std::string other = make_login("mia", "lab", Role::Member) + own_origin();
  const std::string stranger = make_login("eve", "other", Role::Admin) + own_origin();
  wait_for(200, [&] { return get("/w/lab/api/v1/keys", other); });
  wait_for(200, [&] { return get("/w/other/api/v1/keys", stranger); });
  const Link link = make_link(wanted(id_));
  const std::string guest = guest_of(link);
  const std::string target = "/api/v1/shares/" + link.id;
  EXPECT_EQ(ask("DELETE", "/w/lab" + target, other).status, 404);
  EXPECT_EQ(ask("DELETE", "/w/lab" + target, stranger).status, 404);
  EXPECT_EQ(ask("DELETE", "/w/other" + target, stranger).status, 404);
  EXPECT_EQ(ask("DELETE", "/w/lab" + target, guest).status, 401);
  EXPECT_EQ(get(below(link, "/api/v1/shared"), guest).status, 200);
  EXPECT_EQ(ask("DELETE", "/w/lab" + target, admin_).status, 204);
  EXPECT_EQ(get(below(link, "/api/v1/shared"), guest).status, 401);
  const net::Response list = get("/w/lab/api/v1/shares", member_);
  EXPECT_EQ(list.body.find(link.token), std::string::npos);
  EXPECT_TRUE(json_of(list)["shares"].items().at(0)["is_revoked"].as_bool());
  EXPECT_FALSE(json_of(list)["shares"].items().at(0)["counts"].as_bool(true));
  const std::set<std::string> wanted_entries = {"share links turned on", "share link made",
                                                "share link used", "share link ended"};
  EXPECT_TRUE(base::eventually([&] {
    const std::set<std::string> entries = audited();
    return std::includes(entries.begin(), entries.end(), wanted_entries.begin(),
                         wanted_entries.end());
  })) << get("/w/lab/api/v1/audit", admin_).body;
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(log_.find(link.token), std::string::npos) << "tokens are in no log";
}

// The streams of guests end with what let them in, whatever that was.
TEST_F(ShareTest, StreamsEndWithTheLink) {
  send_one();
  ASSERT_EQ(turn(true, admin_).status, 204);
  const auto follow = [&](const Link& link) {
    auto client = std::make_unique<net::Client>(port_);
    const std::string cookie = guest_of(link);
    EXPECT_TRUE(client->send("GET " + below(link, "/api/v1/events") +
                             " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) + "\r\n" +
                             cookie + "\r\n"));
    EXPECT_NE(client->read_until("event: hello").find("200 OK"), std::string::npos);
    return client;
  };
  const auto has_ended = [](net::Client& client) {
    return client.read_until("0\r\n\r\n").find("0\r\n\r\n") != std::string::npos;
  };
  const Link revoked = make_link(wanted(id_));
  const auto first = follow(revoked);
  EXPECT_EQ(ask("DELETE", "/w/lab/api/v1/shares/" + revoked.id, member_).status, 204);
  EXPECT_TRUE(has_ended(*first));

  const auto second = follow(make_link_until(now_ms() + 1500));
  EXPECT_TRUE(has_ended(*second)) << "its time was over";

  const auto third = follow(make_link(wanted(id_)));
  ASSERT_TRUE(people()->set_sharing(workspace("lab"), false)) << "as gpufl admin does";
  EXPECT_TRUE(has_ended(*third));
  ASSERT_EQ(turn(true, admin_).status, 204);

  const auto fourth = follow(make_link(wanted(id_)));
  {
    const auto by_admin = people();
    const int64_t max = by_admin->directory()->user_named("max")->id;
    ASSERT_TRUE(by_admin->set_role(max, workspace("lab"), Role::Viewer));
    EXPECT_TRUE(has_ended(*fourth));
    ASSERT_TRUE(by_admin->set_role(max, workspace("lab"), Role::Member));
  }
  wait_for(200, [&] { return get("/w/lab/api/v1/keys", member_); });

  const Link of_deleted = make_link(wanted(id_));
  const auto fifth = follow(of_deleted);
  EXPECT_EQ(ask("DELETE", "/w/lab/api/v1/received/" + id_, member_).status, 204);
  EXPECT_TRUE(has_ended(*fifth));
  EXPECT_EQ(ask("POST", "/w/lab/api/v1/received/" + id_ + "/restore", member_).status, 204);
  EXPECT_EQ(open_link(of_deleted.token).status, 401);
}

TEST_F(ShareTest, GuestsAreLimited) {
  send_one();
  ASSERT_EQ(turn(true, admin_).status, 204);
  const Link link = make_link(wanted(id_));
  const std::string guest = guest_of(link);
  int status = 200;
  for (int i = 0; i < 5000 && status == 200; ++i) {
    status = get(below(link, "/api/v1/sessions"), guest).status;
  }
  EXPECT_EQ(status, 429);
}

TEST(SharedPath, IsTheLinkAndWhatIsBelowIt) {
  EXPECT_TRUE(is_shared_path("/shared") && is_shared_path("/shared/") &&
              is_shared_path("/shared/a/"));
  EXPECT_FALSE(is_shared_path("/sharedx") || is_shared_path("/w/shared/") || is_shared_path("/"));
  EXPECT_EQ(split_shared_path("/shared").share, "");
  EXPECT_EQ(split_shared_path("/shared/a").share, "a");
  EXPECT_EQ(split_shared_path("/shared/a").rest, "");
  EXPECT_EQ(split_shared_path("/shared/a/").rest, "/");
  EXPECT_EQ(split_shared_path("/shared/a/b/c").rest, "/b/c");
}

}  // namespace
}  // namespace gpufl::hosting
