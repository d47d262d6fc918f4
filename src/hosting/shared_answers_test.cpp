// SPDX-License-Identifier: Apache-2.0
// What guests are answered, over every route that there is. Analyses do not run here:
// tests/e2e/shared_session_test.py has those.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "hosting/test_share.hpp"
#include "server/event_hub.hpp"

namespace gpufl::hosting {
namespace {

using base::Json;

constexpr const char* kNote = "note of the members";

// What a session's first line says of how and where it was started.
const std::vector<std::string> kStart = {
    "--token COMMAND", "process-NAME", "host-NAME", "container-NAME",
    "boot-NAME",       "release-NAME", "54321"};

class SharedAnswersTest : public testing::ShareTest {
 protected:
  void SetUp() override {
    ShareTest::SetUp();
    send_marked(id_, "shown");
    send_marked(other_, "OF-ANOTHER");
    EXPECT_EQ(turn(true, admin_).status, 204);
    wait_for(200, [&] { return get("/w/lab/api/v1/sessions/" + id_, member_); });
    wait_for(200, [&] { return get("/w/lab/api/v1/sessions/" + other_, member_); });
    Json tags = Json::array();
    tags.push(kTag);
    const Json notes = Json::object().set("text", kNote).set("tags", std::move(tags));
    const net::Response kept = ask("PUT", "/w/lab/api/v1/sessions/" + id_ + "/notes",
                                   member_ + "Content-Type: application/json\r\n", notes.dump());
    EXPECT_EQ(kept.status, 200) << kept.body << notes.dump();
  }

  void send_marked(const std::string& id, const std::string& mark) {
    format::SessionHeader header = format::testing::test_header();
    header.session_id = id;
    header.run_id = "run-" + mark;
    header.app_name = "app-" + mark;
    header.command = "./train --token COMMAND " + mark;
    header.process = "process-NAME";
    header.host = "host-NAME";
    header.container = "container-NAME";
    header.boot_id = "boot-NAME";
    header.os = "release-NAME";
    header.pid = 54321;
    auto writer =
        format::LogWriter::create(format::testing::test_options(folder_.path() / id), header);
    ASSERT_TRUE(writer);
    const int64_t name = (*writer)->intern(format::Dict::Name, "scope-" + mark);
    format::Batch rows(format::Kind::Scope);
    rows.push_row({1, 0, 100, 0, name, 0, 10, 7, 0, 0, 0});
    (*writer)->write(rows);
    ASSERT_TRUE((*writer)->close(1'000'000, {}));
    send_files(sender_, id);
  }

  // Every route of a workspace, with the session in its place.
  std::vector<std::pair<std::string, std::string>> questions(const std::string& session) {
    const std::string reader = make_key("lab", store::Scope::Read).text;
    wait_for(200, [&] { return get("/w/lab/api/v1/sessions", bearer(reader)); });
    const Json document = json_of(get("/w/lab/api/v1/openapi.json", bearer(reader)));
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [path, item] : document["paths"].members()) {
      for (const auto& [method, operation] : item.members()) {
        std::string upper = method;
        for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        all.emplace_back(upper, filled(path, session));
      }
    }
    for (const char* path : {"/", "/metrics", "/healthz", "/assets/absent.js"})
      all.emplace_back("GET", path);
    for (const char* query : {"diff?a=", "gate?baseline="}) {
      const std::string second = std::string(query) == "diff?a=" ? "&b=" : "&candidate=";
      all.emplace_back("GET", "/api/v1/" + (query + session) + second + session);
    }
    const std::string of_session = "/api/v1/sessions/" + session;
    for (const char* rest :
         {"/windows/scope.1.log.zst", "/windows/device.1.log.zst", "/export?format=json",
          "/export?format=csv", "/code?kernel=x", "/group?by=by_op&group=x", "/search?q=scope",
          "/launches?kernel=x", "/events/e1", "/sections/session"}) {
      all.emplace_back("GET", of_session + rest);
    }
    for (const char* path : {"/api/v1/sessions?q=COMMAND", "/api/v1/sessions?host=host-NAME",
                             "/api/v1/sessions?tag=tag-of-members", "/api/v1/runs/run-shown",
                             "/api/v1/runs/run-OF-ANOTHER", "/api/v1/runs/run-shown/report"}) {
      all.emplace_back("GET", path);
    }
    return all;
  }
  static std::string filled(std::string path, const std::string& session) {
    const size_t at = path.find("{session}");
    if (at != std::string::npos) path.replace(at, std::string("{session}").size(), session);
    while (path.find('{') != std::string::npos) {
      const size_t brace = path.find('{');
      path.replace(brace, path.find('}', brace) - brace + 1, "1");
    }
    return path;
  }
  // The answer, once an index is there. Streams do not end, so of them there is the beginning.
  net::Response answer(const std::string& method, const std::string& target,
                       const std::string& headers) {
    net::Response response;
    if (method == "GET" && target.ends_with("/api/v1/events") &&
        target.find("/sessions/") == std::string::npos) {
      net::Client client(port_);
      client.send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
                  "\r\n" + headers + "\r\n");
      response.body = client.read_until("event: hello");
      response.status = response.body.find("200 OK") == std::string::npos ? 503 : 200;
      return response;
    }
    EXPECT_TRUE(base::eventually([&] {
      response = ask(method, target, headers);
      return response.status != 202;
    }));
    return response;
  }

  static constexpr const char* kTag = "tag-of-members";
  const std::string other_ = store::testing::session_id(2);
};

TEST_F(SharedAnswersTest, NoAnswerHasWhatTheLinkIsWithout) {
  const Link link = make_link(wanted(id_));
  const std::string guest = guest_of(link) + own_origin();
  std::set<std::string> answered;
  for (const std::string& session : {id_, other_}) {
    for (const auto& [method, path] : questions(session)) {
      const net::Response response = answer(method, below(link, path), guest);
      const std::string what = method + " " + path + ": " + response.body;
      const std::string all = response.head + response.body;
      for (const std::string& hidden : kStart)
        EXPECT_EQ(all.find(hidden), std::string::npos) << what;
      for (const char* hidden : {kNote, kTag, "OF-ANOTHER"}) {
        EXPECT_EQ(all.find(hidden), std::string::npos) << what;
      }
      EXPECT_EQ(all.find(other_), std::string::npos) << what;
      EXPECT_EQ(all.find(folder_.path().string()), std::string::npos) << what;
      if (response.status < 300) answered.insert(path.substr(0, path.find('?')));
      if (session == other_ && path.find(other_) != std::string::npos) {
        EXPECT_TRUE(response.status == 404 || response.status == 403) << what;
      }
    }
  }
  // A route that is new is for no guest until somebody says so.
  const std::string of_session = "/api/v1/sessions/" + id_;
  const std::set<std::string> expected = {
      "/",
      "/api/v1/events",
      "/api/v1/sessions",
      of_session,
      of_session + "/copies",
      of_session + "/events",
      of_session + "/health",
      of_session + "/kernels",
      of_session + "/ledger",
      of_session + "/scopes",
      of_session + "/search",
      of_session + "/selection",
      of_session + "/series",
      of_session + "/tiles",
      of_session + "/tracks",
      of_session + "/waits",
  };
  EXPECT_EQ(answered, expected);
}

TEST_F(SharedAnswersTest, WhateverAGuestAsksTheListHasTheirSession) {
  const Link link = make_link(wanted(id_));
  const std::string guest = guest_of(link);
  const std::string plain = get(below(link, "/api/v1/sessions"), guest).body;
  const Json list = json_of(get(below(link, "/api/v1/sessions"), guest));
  ASSERT_EQ(list["sessions"].items().size(), 1U);
  EXPECT_EQ(list["sessions"].items()[0]["id"].as_string(), id_);
  EXPECT_EQ(list["sessions"].items()[0]["app"].as_string(), "app-shown");
  for (const char* query : {"q=COMMAND", "q=absent", "host=host-NAME", "host=x",
                            "tag=tag-of-members", "tag=x", "limit=1"}) {
    EXPECT_EQ(get(below(link, std::string("/api/v1/sessions?") + query), guest).body, plain)
        << query;
  }
}

TEST_F(SharedAnswersTest, WhatIsTickedIsThere) {
  const Link command = make_link(wanted(id_).set("command", true));
  const std::string with_command = guest_of(command);
  const net::Response detail = get(below(command, "/api/v1/sessions/" + id_), with_command);
  for (const std::string& shown : kStart) {
    EXPECT_NE(detail.body.find(shown), std::string::npos) << shown << detail.body;
  }
  EXPECT_EQ(detail.body.find(kNote), std::string::npos);
  EXPECT_EQ(get(below(command, "/api/v1/sessions/" + id_ + "/windows"), with_command).status, 403);
  const Link files =
      make_link(wanted(id_).set("command", true).set("source", true).set("files", true));
  const std::string with_files = guest_of(files);
  const Json windows =
      json_of(get(below(files, "/api/v1/sessions/" + id_ + "/windows"), with_files))["windows"];
  ASSERT_FALSE(windows.items().empty());
  const std::string name = windows.items()[0]["name"].as_string();
  const std::string bytes =
      get(below(files, "/api/v1/sessions/" + id_ + "/windows/" + name), with_files).body;
  EXPECT_EQ(bytes, format::testing::read_text(folder_.path() / id_ / name));
  EXPECT_EQ(get(below(files, "/api/v1/sessions/" + other_ + "/windows"), with_files).status, 404);
  EXPECT_EQ(get(below(files, "/api/v1/sessions/" + id_ + "/notes"), with_files).status, 404);
  EXPECT_EQ(get(below(files, "/api/v1/hosts"), with_files).status, 404);
}

// Also what happens is told of that session only, and without what it is.
TEST_F(SharedAnswersTest, EventsAreOfTheSessionOnly) {
  const Link link = make_link(wanted(id_));
  const std::string cookie = guest_of(link);
  net::Client client(port_);
  ASSERT_TRUE(client.send("GET " + below(link, "/api/v1/events") + " HTTP/1.1\r\nHost: 127.0.0.1:" +
                          std::to_string(port_) + "\r\n" + cookie + "\r\n"));
  std::string told = client.read_until("event: hello");
  const std::string third = store::testing::session_id(3);
  send_marked(third, "OF-ANOTHER");
  wait_for(200, [&] { return get("/w/lab/api/v1/sessions/" + third, member_); });
  EXPECT_EQ(ask("DELETE", "/w/lab/api/v1/received/" + other_, member_).status, 204);
  wait_for(404, [&] { return get("/w/lab/api/v1/sessions/" + other_, member_); });
  EXPECT_EQ(ask("DELETE", "/w/lab/api/v1/shares/" + link.id, member_).status, 204);
  told += client.read_until("0\r\n\r\n");
  EXPECT_EQ(told.find("event: session"), std::string::npos) << told;
  EXPECT_EQ(told.find(third), std::string::npos) << told;
  EXPECT_EQ(told.find("revision"), std::string::npos) << told;
}

TEST(EventsForGuests, AreOnlyThatSomethingHappened) {
  server::EventHub hub(8);
  const auto all = hub.open("hello", Json::object());
  const auto guest = hub.open("hello", Json::object(), {.session = "a"});
  ASSERT_NE(guest, nullptr);
  ASSERT_NE(hub.open("hello", Json::object(), {.session = "a"}), nullptr);
  EXPECT_EQ(hub.open("hello", Json::object(), {.session = "b"}), nullptr) << "a share of all";
  hub.publish("session", Json::object().set("id", "b").set("command", "x").set("change", "grew"));
  hub.publish("session", Json::object().set("id", "a").set("command", "x").set("change", "grew"));
  hub.publish("analysis",
              Json::object().set("session", "a").set("state", "ready").set("problem", "x"));
  std::string told, told_guest;
  all->take(told);
  guest->take(told_guest);
  EXPECT_NE(told.find("\"id\":\"b\""), std::string::npos);
  EXPECT_EQ(told_guest,
            "event: hello\ndata: {}\n\n"
            "event: session\ndata: {\"id\":\"a\",\"change\":\"grew\"}\n\n"
            "event: analysis\ndata: {\"session\":\"a\",\"state\":\"ready\"}\n\n");
}

}  // namespace
}  // namespace gpufl::hosting
