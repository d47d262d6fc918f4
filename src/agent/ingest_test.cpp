// SPDX-License-Identifier: Apache-2.0
#include "agent/ingest.hpp"

#include <gtest/gtest.h>

#include "agent/test_server.hpp"

namespace gpufl::agent {
namespace {

using testing::make_key;
using testing::sha256_of;
using testing::StandInServer;
using Verdict = SendAnswer::Verdict;

Ingest ingest_of(const std::string& url, const std::string& key = make_key(),
                 const std::string& api_path = "") {
  auto address = make_address(url, key, api_path);
  EXPECT_TRUE(address) << address.status().text();
  auto client = net::HttpClient::make(address->url);
  EXPECT_TRUE(client) << client.status().text();
  return {*address, std::move(*client)};
}

SendAnswer check(const std::string& url, const std::string& key = make_key(),
                 const std::string& api_path = "") {
  KnownServer ignored;
  return ingest_of(url, key, api_path).check(ignored);
}

Piece manifest() {
  static const std::string kText = "text";
  return {PieceKind::Manifest, {{"version", "4"}}, net::RequestBody::of(kText), false};
}

TEST(Key, IsCheckedForSlips) {
  const std::string key = make_key();
  EXPECT_TRUE(is_key(key));
  std::string wrong = key;
  wrong[10] = '2';
  EXPECT_FALSE(is_key(wrong));
  EXPECT_FALSE(is_key(key.substr(1)));
  EXPECT_FALSE(is_key(key + " "));
  EXPECT_FALSE(is_key(""));
  EXPECT_FALSE(is_key("gpfl_" + std::string(56, 'g')));
}

TEST(Address, SaysWhatIsMissing) {
  const auto why = [](const char* url, const std::string& key, const char* path) {
    const auto address = make_address(url, key, path);
    return address ? "" : address.status().message();
  };
  EXPECT_EQ(why("http://a", make_key(), ""), "");
  EXPECT_EQ(why("", make_key(), ""),
            "no server is named: run 'gpufl login URL', or set GPUFL_BACKEND_URL");
  EXPECT_EQ(why("https://a", "", ""),
            "there is no key for https://a: run 'gpufl login URL', or set GPUFL_API_KEY");
  EXPECT_EQ(why("https://a", "gpfl_x", ""),
            "the key is not one that a server has given: it begins with gpfl_ and is 61 characters "
            "long; was all of it copied?");
  EXPECT_NE(why("a", make_key(), ""), "");
  for (const char* path : {"api", "/a?b", "/a b", "/a\r\nX: y"}) {
    EXPECT_NE(why("http://a", make_key(), path), "") << path;
  }
  EXPECT_EQ(make_address("http://a", make_key(), "/gpufl/api/v1/")->api_path, "/gpufl/api/v1");
}

TEST(Ingest, ChecksAKey) {
  StandInServer server;
  KnownServer known;
  EXPECT_EQ(ingest_of(server.url()).check(known).verdict, Verdict::Stored);
  EXPECT_EQ(known.workspace, "team");
  EXPECT_EQ(known.generation, "") << "it does not say";
  server.set_generation("g1");
  EXPECT_EQ(ingest_of(server.url()).check(known).verdict, Verdict::Stored);
  EXPECT_EQ(known.generation, "g1");
  const SendAnswer bad = check(server.url(), make_key('2'));
  EXPECT_EQ(bad.verdict, Verdict::Denied);
  EXPECT_EQ(bad.reason, server.url() + " does not know the key: it may be revoked");
}

TEST(Ingest, SaysWhenNothingTakesSessionsThere) {
  StandInServer server("/gpufl/api/v1");
  for (const SendAnswer& answer :
       {check(server.url()), ingest_of(server.url()).send("s", manifest())}) {
    EXPECT_EQ(answer.verdict, Verdict::Denied);
    EXPECT_EQ(answer.reason, server.url() +
                                 "/api/v1 takes no sessions: is the address right, and "
                                 "GPUFL_API_PATH?");
  }
  EXPECT_EQ(check(server.url(), make_key(), "/gpufl/api/v1").verdict, Verdict::Stored);
  EXPECT_EQ(check(server.url() + "/gpufl").verdict, Verdict::Stored) << "the same by the address";
}

TEST(Ingest, LearnsWhatIsThere) {
  StandInServer server("/gpufl/api/v1");
  Ingest ingest = ingest_of(server.url() + "/gpufl");
  KnownSession known;
  EXPECT_EQ(ingest.ask("s-1", known).verdict, Verdict::Stored);
  EXPECT_TRUE(known.windows.empty());
  server.change("s-1", [](StandInServer::Session& session) {
    session.windows[{"device", "1"}].sealed = "x";
    session.windows[{"device", "2"}].live = "line\n";
    session.windows[{"system", "1"}] = {"", "end", true};
    session.whole["manifest"] = {7, "m"};
    session.modules["00ff"] = "m";
    session.refused[sha256_of("bad")] = "it is damaged";
  });
  ASSERT_EQ(ingest.ask("s-1", known).verdict, Verdict::Stored);
  using State = KnownWindow::State;
  EXPECT_EQ((known.windows[{"device", 1}].state), State::Sealed);
  EXPECT_EQ((known.windows[{"device", 1}].sha256), sha256_of("x"));
  EXPECT_EQ((known.windows[{"device", 2}].end), 5u);
  EXPECT_EQ((known.windows[{"device", 2}].state), State::Live);
  EXPECT_EQ((known.windows[{"system", 1}].state), State::Final);
  EXPECT_EQ((known.windows[{"system", 1}].sha256), sha256_of("end"));
  EXPECT_EQ(known.files[PieceKind::Manifest].version, 7u);
  EXPECT_EQ(known.files[PieceKind::Manifest].sha256, sha256_of("m"));
  EXPECT_EQ(known.refused.at(sha256_of("bad")), "it is damaged");
  EXPECT_TRUE(known.modules.contains("00ff"));
  EXPECT_EQ(known.page, server.url() + "/gpufl/w/team/#/s/s-1");
}

TEST(Ingest, PagesStandBesideTheApi) {
  const auto page = [](const std::string& served_at, const std::string& below,
                       const std::string& api_path) {
    StandInServer server(served_at);
    server.change("s", [](StandInServer::Session&) {});
    KnownSession known;
    EXPECT_EQ(ingest_of(server.url() + below, make_key(), api_path).ask("s", known).verdict,
              Verdict::Stored);
    return known.page.substr(server.url().size());
  };
  EXPECT_EQ(page("/api/v1", "", ""), "/w/team/#/s/s");
  EXPECT_EQ(page("/gpu/api/v1", "", "/gpu/api/v1"), "/gpu/w/team/#/s/s");
  EXPECT_EQ(page("/a/b/api/v1", "/a", "/b/api/v1"), "/a/b/w/team/#/s/s");
  EXPECT_EQ(page("/ingest", "", "/ingest"), "/w/team/#/s/s") << "a proxy gave it another name";
  EXPECT_EQ(page("/gpu/ingest", "/gpu", "/ingest"), "/gpu/w/team/#/s/s");
}

struct Answered {
  int status;
  const char* body;
  Verdict verdict;
};

TEST(Ingest, TakesAnswersAsTheyAreMeant) {
  StandInServer server;
  for (const Answered& answered : {
           Answered{200, R"({"state":"stored"})", Verdict::Stored},
           Answered{200, R"({"state":"known"})", Verdict::Known},
           Answered{200, R"({"state":"superseded"})", Verdict::Superseded},
           Answered{200, "<html>welcome to the hotel</html>", Verdict::Denied},
           Answered{302, "", Verdict::Denied},
           Answered{401, "{}", Verdict::Denied},
           Answered{403, "{}", Verdict::Denied},
           Answered{409, R"({"expected":"12"})", Verdict::Elsewhere},
           Answered{409, R"({"state":"conflict"})", Verdict::Refused},
           Answered{410, "{}", Verdict::Gone},
           Answered{413, R"({"state":"quarantined"})", Verdict::Refused},
           Answered{422, R"({"state":"quarantined","detail":"no such kind"})", Verdict::Refused},
           Answered{429, "{}", Verdict::Busy},
           Answered{500, "oops", Verdict::Busy},
           Answered{502, "<html>bad gateway</html>", Verdict::Busy},
           Answered{503, "{}", Verdict::Busy},
           Answered{507, "{}", Verdict::Busy},
       }) {
    server.be_mischievous([&](const net::HttpRequest&, StandInServer::Session&) {
      auto reply = net::reply_with("application/json", answered.body, answered.status);
      reply.headers.emplace_back("Retry-After", "9");
      return std::optional(std::move(reply));
    });
    const SendAnswer answer = ingest_of(server.url()).send("s", manifest());
    EXPECT_EQ(answer.verdict, answered.verdict) << answered.status << " " << answered.body;
    if (answered.verdict == Verdict::Elsewhere) {
      EXPECT_EQ(answer.end, 12u);
    }
    if (answered.verdict == Verdict::Busy) {
      EXPECT_EQ(answer.wait, std::chrono::seconds(9));
    }
    if (answered.status != 200) {
      EXPECT_NE(answer.reason, "") << answered.status;
    }
    if (answered.status == 403) {
      EXPECT_EQ(answer.reason, server.url() +
                                   "/api/v1 does not let this key send sessions: is it one of the "
                                   "scope 'ingest', and is the address right?");
    }
  }
}

TEST(Ingest, AKeyThatMayOnlyReadIsRefused) {
  StandInServer server;
  KnownServer known;
  server.set_scope("ingest");
  EXPECT_EQ(ingest_of(server.url()).check(known).verdict, Verdict::Stored);
  server.set_scope("read");
  const SendAnswer answer = ingest_of(server.url()).check(known);
  EXPECT_EQ(answer.verdict, Verdict::Denied);
  EXPECT_EQ(answer.reason, server.url() +
                               ": the key may only read; sessions are sent with one of the scope "
                               "'ingest'");
}

TEST(Ingest, AServerThatIsNotThereIsBusy) {
  std::string url;
  {
    const StandInServer gone;
    url = gone.url();
  }
  EXPECT_EQ(ingest_of(url).send("s", manifest()).verdict, Verdict::Busy);
}

}  // namespace
}  // namespace gpufl::agent
