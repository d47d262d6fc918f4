// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "format/seal.hpp"
#include "format/verify.hpp"
#include "hosting/test_host.hpp"
#include "net/compression.hpp"
#include "server/cache_folder.hpp"
#include "store/inspect.hpp"

namespace gpufl::hosting {
namespace {

namespace fs = std::filesystem;
using base::Json;
using format::Channel;
using format::testing::read_text;
using format::testing::write_text;
using store::Scope;
using store::testing::live_text;
using store::testing::session_id;
using store::testing::sha256_of_text;

class IngestTest : public testing::HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    key_ = make_key("default", Scope::Ingest).text;
    wait_for(200, [&] { return get("/api/v1/ingest", bearer(key_)); });
  }
  static std::string zstd(const std::string& text) {
    std::string packed;
    EXPECT_TRUE(net::make_compressor(net::Encoding::Zstd)->add(text, true, packed));
    return packed;
  }
  static std::string state_of(const net::Response& response) {
    return json_of(response)["state"].as_string();
  }
  std::string live(uint64_t offset) const {
    return "session=" + id_ + "&kind=live&channel=system&number=1&offset=" + std::to_string(offset);
  }

  std::string key_;
  int hosts_ = 0;
};

TEST_F(IngestTest, ASessionComesWholeAndIsShown) {
  const Json whose = json_of(get("/api/v1/ingest", bearer(key_)));
  EXPECT_EQ(whose["workspace"].as_string(), "default");
  EXPECT_EQ(whose["page"].as_string(), "w/default/");
  EXPECT_EQ(whose["scope"].as_string(), "ingest");
  EXPECT_EQ(get("/api/v1/ingest/sessions/" + id_, bearer(key_)).status, 404);
  send_session(key_, id_);
  const Json there = json_of(get("/api/v1/ingest/sessions/" + id_, bearer(key_)));
  EXPECT_EQ(there["state"].as_string(), "open");
  EXPECT_EQ(there["page"].as_string(), "w/default/#/s/" + id_);
  EXPECT_EQ(there["manifest"]["version"].as_string(), "1");
  EXPECT_EQ(there["windows"].items().size() + 1,
            format::testing::file_names(folder_.path() / id_).size());
  for (const Json& window : there["windows"].items()) {
    const std::string name =
        window["channel"].as_string() + "." + window["number"].as_string() + ".log.zst";
    EXPECT_EQ(window["state"].as_string(), "sealed");
    EXPECT_EQ(window["sha256"].as_string(), sha256_of_text(read_text(folder_.path() / id_ / name)));
  }
  const std::string reader = bearer(make_key("default", Scope::Read).text);
  wait_for(200, [&] { return get("/api/v1/sessions/" + id_, reader); });
  EXPECT_EQ(get("/w/default/api/v1/sessions/" + id_, reader).status, 200);
  EXPECT_EQ(json_of(get("/api/v1/ingest", reader))["scope"].as_string(), "read");
  const fs::path indexes = folder_.path() / "data/cache/index";
  EXPECT_TRUE(base::eventually([&] { return fs::exists(indexes) && !fs::is_empty(indexes); }))
      << "its timeline is made ready before somebody asks for it";
  EXPECT_EQ(format::verify_session(folder_.path() / "data" / store::session_prefix(1, 1)).rows,
            format::verify_session(folder_.path() / id_).rows);
  start();
  EXPECT_EQ(json_of(get("/api/v1/ingest/sessions/" + id_, bearer(key_)))["windows"].items().size(),
            there["windows"].items().size());
}

// Without another look at all folders than the first, which a thousand sessions make slow.
TEST_F(IngestTest, WhatComesIsShownAtOnce) {
  HostedOptions rare = options();
  rare.server.pace = std::chrono::hours(1);
  start(std::move(rare));
  const std::string admin = make_login("ada", "default", store::Role::Admin) + own_origin();
  const std::string of = "/w/default/api/v1/sessions";
  wait_for(200, [&] { return get(of, admin); });
  wait_for(200, [&] { return get("/api/v1/ingest", bearer(key_)); });
  EXPECT_EQ(state_of(send(key_, live(0), live_text(id_, Channel::System, 1, 5))), "stored");
  wait_for(200, [&] { return get(of + "/" + id_, admin); });
  EXPECT_EQ(json_of(get(of + "/" + id_, admin))["state"].as_string(), "live");
  const std::string received = "/w/default/api/v1/received/" + id_;
  EXPECT_EQ(ask("DELETE", received, admin).status, 204);
  wait_for(404, [&] { return get(of + "/" + id_, admin); });
  EXPECT_EQ(ask("POST", received + "/restore", admin).status, 204);
  wait_for(200, [&] { return get(of + "/" + id_, admin); });
}

TEST_F(IngestTest, NotesGoWithTheirSession) {
  HostedOptions quick = options();
  quick.store.retention_pace = std::chrono::milliseconds(10);
  start(std::move(quick));
  wait_for(200, [&] { return get("/api/v1/ingest", bearer(key_)); });
  send_session(key_, id_);
  const std::string admin = make_login("ada", "default", store::Role::Admin) + own_origin();
  const std::string of = "/w/default/api/v1/sessions";
  wait_for(200, [&] { return get(of + "/" + id_, admin); });
  EXPECT_EQ(ask("PUT", of + "/" + id_ + "/notes", admin + "Content-Type: application/json\r\n",
                R"({"text":"slow","tags":["bad"]})")
                .status,
            200);
  EXPECT_EQ(json_of(get(of + "?tag=bad", admin))["sessions"].items().size(), 1U);
  EXPECT_EQ(json_of(get(of + "?tag=good", admin))["sessions"].items().size(), 0U);
  const fs::path kept = folder_.path() / "data/workspaces/1/notes/notes" / server::name_hash(id_);
  EXPECT_TRUE(fs::exists(kept));
  EXPECT_EQ(ask("DELETE", "/w/default/api/v1/received/" + id_, admin).status, 204);
  wait_for(404, [&] { return get(of + "/" + id_, admin); });
  EXPECT_TRUE(fs::exists(kept)) << "until the deletion cannot be undone any more";
  ASSERT_TRUE(people()->set_retention(1, {.keep_days = {}, .keep_bytes = {}, .deleted_days = 0}));
  EXPECT_TRUE(base::eventually([&] { return !fs::exists(kept); }));
  // A server that was killed in between has left them.
  server_.reset();
  write_text(kept, "{}");
  start();
  EXPECT_FALSE(fs::exists(kept));
}

TEST_F(IngestTest, AnswersAsTheContractSays) {
  const std::string text = live_text(id_, Channel::System, 1, 5);
  const std::string more = "{\"type\":\"event\",\"time\":9,\"name\":\"y\"}\n";
  EXPECT_EQ(state_of(send(key_, live(0), text)), "stored");
  EXPECT_EQ(json_of(send(key_, live(0), text))["end"].as_string(), std::to_string(text.size()));
  EXPECT_EQ(state_of(send(key_, live(0), text)), "known");
  const net::Response behind = send(key_, live(text.size() + 1), more);
  EXPECT_EQ(behind.status, 409);
  EXPECT_EQ(json_of(behind)["expected"].as_string(), std::to_string(text.size()));
  EXPECT_EQ(state_of(send(key_, live(text.size()), zstd(more), "Content-Encoding: zstd\r\n")),
            "stored");
  const net::Response conflict = send(key_, live(0), more);
  EXPECT_EQ(conflict.status, 422) << "it does not begin with the session";
  EXPECT_EQ(state_of(send(key_, live(text.size()), "{}\n")), "conflict");

  write_text(folder_.path() / "raw", text + more);
  ASSERT_TRUE(format::seal_window(folder_.path() / "raw", folder_.path() / "sealed"));
  const std::string sealed = read_text(folder_.path() / "sealed");
  const std::string window = "session=" + id_ + "&kind=window&channel=system&number=1";
  EXPECT_EQ(send(key_, window, "junk").status, 422);
  EXPECT_EQ(send(key_, window + "&sha256=" + std::string(64, '0'), sealed).status, 422);
  EXPECT_EQ(state_of(send(key_, window + "&sha256=" + sha256_of_text(sealed), sealed)), "stored");
  EXPECT_EQ(state_of(send(key_, window, sealed)), "known");
  EXPECT_EQ(state_of(send(key_, live(0), text)), "superseded");
  EXPECT_EQ(send(key_, window, read_text(folder_.path() / "raw")).status, 409);

  const std::string admin = make_login("ada", "default", store::Role::Admin);
  wait_for(200, [&] { return get("/w/default/api/v1/quarantine", admin); });
  const Json aside = json_of(get("/w/default/api/v1/quarantine", admin));
  EXPECT_GE(aside["quarantine"].items().size(), 5U);
  EXPECT_EQ(ask("DELETE", "/w/default/api/v1/received/" + id_, admin + own_origin()).status, 204);
  EXPECT_EQ(send(key_, window, sealed).status, 410);
  EXPECT_EQ(json_of(get("/api/v1/ingest/sessions/" + id_, bearer(key_)))["state"].as_string(),
            "deleted");
  EXPECT_EQ(
      ask("POST", "/w/default/api/v1/received/" + id_ + "/restore", admin + own_origin()).status,
      204);
  EXPECT_EQ(state_of(send(key_, window, sealed)), "known");
}

TEST_F(IngestTest, RefusesWhatCannotBeAPiece) {
  const std::string good = "session=" + id_ + "&kind=window&channel=system&number=1";
  for (const std::string& query : std::initializer_list<std::string>{
           "", "kind=window&channel=system&number=1", "session=" + id_ + "&kind=other",
           "session=" + id_ + "&kind=window&channel=system",
           "session=" + id_ + "&kind=window&channel=system&number=0",
           "session=" + id_ + "&kind=window&channel=system&number=-1",
           "session=" + id_ + "&kind=window&channel=..&number=1",
           "session=" + id_ + "&kind=window&channel=system&number=99999999999999999999",
           "session=..%2F..%2Fetc&kind=window&channel=system&number=1",
           "session=" + id_ + "%00&kind=window&channel=system&number=1",
           "session=" + id_ + "&kind=module&hash=..%2F..%2F..%2F1234567", good + "&sha256=xyz",
           "session=" + id_ + "&kind=symbols", good + "&other=1", good + "&kind=live",
           "kind=live&" + good, good + "&host=" + std::string(200, 'h'),
           "session=" + id_ + "&kind=live&channel=system&number=1&final=1"}) {
    EXPECT_EQ(send(key_, query, "body").status, 400) << query;
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "data" / store::session_prefix(1, 1)));
  EXPECT_EQ(get("/api/v1/ingest/sessions/..%2F..%2Fx", bearer(key_)).status, 400);
}

TEST_F(IngestTest, ABombOfLiveLinesIsRefused) {
  const net::Response response =
      send(key_, live(0), zstd(std::string(size_t{64} << 20, '\n')), "Content-Encoding: zstd\r\n");
  EXPECT_EQ(response.status, 422) << response.body;
  EXPECT_EQ(send(key_, live(0), "x", "Content-Encoding: br\r\n").status, 415);
}

TEST_F(IngestTest, ALargeWindowGoesToTheDiskAsItArrives) {
  std::string text = live_text(id_, Channel::System, 1, 0);
  for (int i = 0; text.size() < size_t{6} << 20; ++i) {
    text += R"({"type":"event","time":)" + std::to_string(i) + R"(,"name":"large"})" + "\n";
  }
  const std::string query = "session=" + id_ + "&kind=window&channel=system&number=1";
  EXPECT_EQ(state_of(send(key_, query, text)), "stored");
  EXPECT_TRUE(read_text(folder_.path() / "data" / store::session_prefix(1, 1) /
                        format::sealed_file_name(Channel::System, 1)) == text);
  // What is too large even for that is not read.
  net::Client client(port_);
  EXPECT_EQ(client
                .ask("POST /api/v1/events/stream?" + query + " HTTP/1.1\r\nHost: x\r\n" +
                     bearer(key_) + "Content-Length: 999999999999\r\n\r\n")
                .status,
            413);
  net::Client other(port_);
  EXPECT_EQ(other
                .ask("POST /api/v1/events/stream?" + live(0) + " HTTP/1.1\r\nHost: x\r\n" +
                     bearer(key_) + "Content-Length: 5000000\r\n\r\n")
                .status,
            413);
}

TEST_F(IngestTest, AHostThatSendsTooOftenWaitsAndOthersDoNot) {
  HostedOptions strict = options();
  strict.pieces = {.per_second = 0.001, .most = 3};
  start(strict);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(send(key_, live(0) + "&host=one", "{}\n").status, 422);
  const net::Response last = send(key_, live(0) + "&host=one", "{}\n");
  EXPECT_EQ(last.status, 429);
  EXPECT_NE(last.head.find("Retry-After: "), std::string::npos);
  EXPECT_EQ(send(key_, live(0) + "&host=other", "{}\n").status, 422);
}

// None of the body is sent, and the answer is there.
TEST_F(IngestTest, WhatCannotBeTakenIsRefusedBeforeItComes) {
  HostedOptions options = this->options();
  options.pieces = {.per_second = 0.001, .most = 3};
  start(options);
  const std::string window = "session=" + id_ + "&kind=window&channel=system&number=1";
  const auto ask_only = [&](const std::string& query, const std::string& key, uint64_t bytes) {
    net::Client client(port_);
    return client.ask("POST /api/v1/events/stream?" + query + " HTTP/1.1\r\nHost: x\r\n" +
                      bearer(key) + "Content-Length: " + std::to_string(bytes) + "\r\n\r\n");
  };
  constexpr uint64_t kLarge = 100'000'000;
  EXPECT_EQ(ask_only(window, "gpfl_wrong", kLarge).status, 401);
  const std::string reader = make_key("default", Scope::Read).text;
  wait_for(403, [&] { return ask_only(window, reader, kLarge); });
  EXPECT_EQ(ask_only(window + "&number=x", key_, kLarge).status, 400);
  EXPECT_EQ(ask_only("session=" + id_ + "&kind=window", key_, kLarge).status, 400);
  EXPECT_EQ(ask_only(window, key_, uint64_t{513} << 20).status, 413);
  ASSERT_TRUE(people()->set_quota(workspace("default"), 1000));
  wait_for(507, [&] { return ask_only(window + "&host=" + std::to_string(++hosts_), key_, 1001); });
  EXPECT_EQ(ask_only(window + "&host=a", key_, 1001).status, 507);
  ASSERT_TRUE(people()->set_quota(workspace("default"), std::nullopt));
  const std::string text = live_text(id_, Channel::System, 1, 1);
  wait_for(200, [&] { return send(key_, window + "&host=b" + std::to_string(++hosts_), text); });
  const std::string admin = make_login("ada", "default", store::Role::Admin);
  wait_for(204, [&] {
    return ask("DELETE", "/w/default/api/v1/received/" + id_, admin + own_origin());
  });
  EXPECT_EQ(ask_only(window + "&host=c", key_, kLarge).status, 410);
  for (int i = 0; i < 3; ++i) (void)ask_only(window + "&host=d", key_, kLarge);
  const net::Response often = ask_only(window + "&host=d", key_, kLarge);
  EXPECT_EQ(often.status, 429);
  EXPECT_NE(often.head.find("Retry-After: "), std::string::npos);
}

TEST_F(IngestTest, AKeyHasALimitWhateverHostsItNames) {
  HostedOptions strict = options();
  strict.key_pieces = {.per_second = 0.001, .most = 3};
  start(strict);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(send(key_, live(0) + "&host=h" + std::to_string(i), "{}\n").status, 422);
  }
  EXPECT_EQ(send(key_, live(0) + "&host=h4", "{}\n").status, 429);
}

TEST_F(IngestTest, ASenderHearsWhatWasRefusedAndWhichStoreThisIs) {
  const std::string query = "session=" + id_ + "&kind=window&channel=system&number=";
  const std::string text = live_text(id_, Channel::System, 1, 1);
  EXPECT_EQ(send(key_, query + "1", text).status, 200);
  EXPECT_EQ(send(key_, query + "2", "junk").status, 422);
  EXPECT_EQ(send(key_, query + "2", "junk").status, 422);
  const Json there = json_of(get("/api/v1/ingest/sessions/" + id_, bearer(key_)));
  ASSERT_EQ(there["refused"].items().size(), 1U);
  const Json& refused = there["refused"].items()[0];
  EXPECT_EQ(refused["what"].as_string(), "window system 2");
  EXPECT_EQ(refused["sha256"].as_string(), sha256_of_text("junk"));
  EXPECT_FALSE(refused["reason"].as_string().empty());
  const std::string generation =
      json_of(get("/api/v1/ingest", bearer(key_)))["generation"].as_string();
  EXPECT_EQ(generation.size(), 32U);
  start();
  EXPECT_EQ(json_of(get("/api/v1/ingest", bearer(key_)))["generation"].as_string(), generation);
  server_.reset();
  const fs::path data = folder_.path() / "data", backup = folder_.path() / "backup";
  ASSERT_TRUE(store::copy_store(data, backup));
  fs::remove_all(data);
  ASSERT_TRUE(store::restore_store(backup, data, [](const std::string&) {}));
  start();
  const std::string later = json_of(get("/api/v1/ingest", bearer(key_)))["generation"].as_string();
  EXPECT_EQ(later.size(), 32U);
  EXPECT_NE(later, generation);
  EXPECT_EQ(state_of(send(key_, query + "1", text)), "known");
}

TEST_F(IngestTest, WindowsOfASessionThatIsRecordedAreIndexedAsTheyCome) {
  store::testing::write_session(folder_.path() / id_, id_, 2, 50);
  const std::string window =
      read_text(folder_.path() / id_ / format::sealed_file_name(Channel::Scope, 1));
  EXPECT_EQ(state_of(send(key_, live(0), live_text(id_, Channel::System, 1, 3))), "stored");
  const std::string reader = bearer(make_key("default", Scope::Read).text);
  wait_for(200, [&] { return get("/api/v1/sessions/" + id_, reader); });
  const fs::path indexes = folder_.path() / "data/cache/index";
  EXPECT_EQ(state_of(send(key_, "session=" + id_ + "&kind=window&channel=scope&number=1", window)),
            "stored");
  EXPECT_TRUE(base::eventually([&] { return fs::exists(indexes) && !fs::is_empty(indexes); }));
  EXPECT_EQ(json_of(get("/api/v1/sessions/" + id_, reader))["state"].as_string(), "live");
}

TEST_F(IngestTest, MembersPinSessionsAndSeeWhatCame) {
  const std::string text = live_text(id_, Channel::System, 1, 1);
  const std::string query = "session=" + id_ + "&kind=window&channel=system&number=1";
  EXPECT_EQ(send(key_, query, text).status, 200);
  const std::string member = make_login("bob", "default", store::Role::Member) + own_origin();
  const std::string viewer = make_login("eve", "default", store::Role::Viewer) + own_origin();
  const std::string pin = "/w/default/api/v1/received/" + id_ + "/pin";
  const std::string list = "/w/default/api/v1/received";
  wait_for(204, [&] { return ask("PUT", pin, member); });
  wait_for(403, [&] { return ask("PUT", pin, viewer); });
  EXPECT_EQ(get(list, viewer).status, 403);
  EXPECT_EQ(ask("PUT", "/w/default/api/v1/received/" + session_id(9) + "/pin", member).status, 404);
  const auto first = [&] { return json_of(get(list, member))["received"].items().at(0); };
  EXPECT_EQ(first()["session"].as_string(), id_);
  EXPECT_TRUE(first()["is_pinned"].as_bool());
  EXPECT_EQ(first()["bytes"].as_string(), std::to_string(text.size()));
  EXPECT_TRUE(json_of(get("/api/v1/ingest/sessions/" + id_, bearer(key_)))["is_pinned"].as_bool());
  EXPECT_TRUE(json_of(get(list + "?before=" + first()["number"].as_string(), member))["received"]
                  .items()
                  .empty());
  EXPECT_EQ(ask("DELETE", pin, member).status, 204);
  EXPECT_FALSE(first()["is_pinned"].as_bool());
  EXPECT_EQ(ask("DELETE", "/w/default/api/v1/received/" + id_, member).status, 204);
  EXPECT_EQ(first()["state"].as_string(), "deleted");
}

TEST_F(IngestTest, WhatRetentionTakesIsInTheAuditLog) {
  HostedOptions options = this->options();
  options.store.retention_pace = std::chrono::milliseconds(10);
  options.store.keep_least = std::chrono::milliseconds(0);
  start(options);
  const std::string text = live_text(id_, Channel::System, 1, 1);
  const std::string query = "session=" + id_ + "&kind=window&channel=system&number=1";
  EXPECT_EQ(send(key_, query, text).status, 200);
  ASSERT_TRUE(people()->set_retention(workspace("default"),
                                      {.keep_days = 0, .keep_bytes = {}, .deleted_days = 30}));
  const std::string admin = make_login("ada", "default", store::Role::Admin);
  EXPECT_TRUE(base::eventually([&] {
    return get("/w/default/api/v1/audit", admin).body.find("session expired") != std::string::npos;
  }));
  EXPECT_EQ(send(key_, query, text).status, 410);
  const std::string reader = bearer(make_key("default", Scope::Read).text);
  wait_for(404, [&] { return get("/api/v1/sessions/" + id_, reader); });
}

TEST_F(IngestTest, WhatIsWrongWithAPieceDoesNotSayWhereItLies) {
  send_session(key_, id_);
  EXPECT_EQ(send(key_, "session=" + id_ + "&kind=module&hash=0123456789abcdef", "junk").status,
            422);
  EXPECT_EQ(send(key_, "session=" + id_ + "&kind=window&channel=code&number=7", "junk").status,
            422);
  const Json refused = json_of(get("/api/v1/ingest/sessions/" + id_, bearer(key_)))["refused"];
  ASSERT_EQ(refused.items().size(), 2U);
  for (const Json& one : refused.items()) {
    EXPECT_EQ(one["reason"].as_string().find('/'), std::string::npos) << one.dump();
  }
}

TEST_F(IngestTest, AFolderOfOneLetterIsNoWordOfAnswers) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  HostedOptions options = this->options();
  options.server.folder = "s";
  options.server.cache = "s/cache";
  start(options);
  fs::current_path(before);
  EXPECT_EQ(json_of(get("/api/v1/ingest"))["status"].as_integer(), 401);
}

TEST_F(IngestTest, TheCacheIsWhereItWasAskedFor) {
  HostedOptions options = this->options();
  options.server.folder = folder_.path() / "other";
  options.server.cache = folder_.path() / "elsewhere";
  start(options);
  EXPECT_TRUE(fs::exists(folder_.path() / "elsewhere"));
  EXPECT_FALSE(fs::exists(folder_.path() / "other/cache"));
}

TEST_F(IngestTest, ManyFilesMayBeOpen) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{512, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  start();
  rlimit now{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &now), 0);
  EXPECT_EQ(now.rlim_cur, before.rlim_max);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(IngestTest, AConnectionThatIsCutLeavesNothing) {
  const fs::path incoming = folder_.path() / "data/incoming";
  {
    net::Client client(port_);
    ASSERT_TRUE(client.send("POST /api/v1/events/stream?session=" + id_ +
                            "&kind=window&channel=system&number=1 HTTP/1.1\r\nHost: x\r\n" +
                            bearer(key_) + "Content-Length: 1000000\r\n\r\n" +
                            std::string(400'000, 'x')));
    EXPECT_TRUE(base::eventually([&] { return !fs::is_empty(incoming); }));
  }
  EXPECT_TRUE(base::eventually([&] { return fs::is_empty(incoming); }));
  EXPECT_EQ(get("/api/v1/ingest/sessions/" + id_, bearer(key_)).status, 404);
}

TEST_F(IngestTest, OneServerAtATimeAndOnlyOnLoopback) {
  EXPECT_EQ(HostedServer::start(options()).status().code(), base::Code::Unavailable);
  HostedOptions open = options();
  open.server.listen.address = "0.0.0.0";
  EXPECT_EQ(HostedServer::start(open).status().code(), base::Code::InvalidArgument);
  open.allow_plain_http = true;
  EXPECT_EQ(HostedServer::start(open).status().code(), base::Code::InvalidArgument)
      << "without a public address";
}

}  // namespace
}  // namespace gpufl::hosting
