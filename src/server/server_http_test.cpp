// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>
#include <tuple>

#include "base/eventually.hpp"
#include "base/json.hpp"
#include "format/test_session.hpp"
#include "index/random_session.hpp"
#include "server/server.hpp"
#include "server/services.hpp"

namespace gpufl::server {
namespace {

using base::Json;
using format::testing::TempDir;

class ServerHttpTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 5; ++i) {
      format::SessionHeader header = format::testing::test_header();
      header.session_id = "s" + std::to_string(i);
      auto writer = format::LogWriter::create(
          format::testing::test_options(logs_.path() / header.session_id), header);
      ASSERT_TRUE((*writer)->close(1000, {}).is_ok());
    }
    start({});
  }
  void start(std::optional<PublicUrl> public_url) {
    ServerOptions options;
    options.folder = logs_.path();
    options.cache = cache_.path();
    options.pace = std::chrono::milliseconds(10);
    options.analysis_program = {"/bin/false"};
    options.public_url = std::move(public_url);
    options.log = LogFormat::Text;
    options.write_log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_ += line;
    };
    server_.reset();
    auto started = Server::start(std::move(options));
    ASSERT_TRUE(started) << started.status().text();
    server_ = std::move(*started);
  }
  // The whole answer, head included.
  std::string ask(const std::string& target, const std::string& headers = "",
                  const std::string& method = "GET", const std::string& body = "") {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(server_->endpoint().port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
    const std::string host = headers.find("Host:") == std::string::npos
                                 ? "Host: " + server_->endpoint().text() + "\r\n"
                                 : "";
    const std::string text = method + " " + target + " HTTP/1.1\r\n" + host +
                             "Connection: close\r\n" + headers + "\r\n" + body;
    EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
    std::string answer;
    char buffer[4096];
    for (ssize_t got; (got = ::recv(fd, buffer, sizeof buffer, 0)) > 0;) {
      answer.append(buffer, static_cast<size_t>(got));
    }
    ::close(fd);
    return answer;
  }
  std::string ask_as_user(const std::string& target) {
    return ask(target, "Authorization: Bearer " + server_->token() + "\r\n");
  }
  static int status_of(const std::string& answer) {
    return answer.size() < 12 ? 0 : std::stoi(answer.substr(9, 3));
  }

  TempDir logs_, cache_;
  std::mutex mutex_;
  std::string log_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerHttpTest, TheTokenOpensItAndIsInNoLog) {
  EXPECT_EQ(status_of(ask("/healthz")), 200);
  EXPECT_EQ(status_of(ask("/")), 200);
  EXPECT_EQ(status_of(ask("/api/v1/sessions")), 401);
  EXPECT_EQ(status_of(ask("/metrics")), 401);
  EXPECT_EQ(status_of(ask("/no/such")), 401);
  EXPECT_EQ(status_of(ask_as_user("/no/such")), 404);
  EXPECT_EQ(status_of(ask_as_user("/api/v1/sessions")), 200);
  EXPECT_EQ(status_of(ask("/healthz", "Host: evil.example\r\n")), 421);
  const std::string first = ask("/?token=" + server_->token());
  EXPECT_EQ(status_of(first), 303);
  EXPECT_EQ(first.find("Access-Control"), std::string::npos);
  EXPECT_EQ(status_of(ask("/?token=0000")), 401);
  server_.reset();
  const std::lock_guard lock(mutex_);
  EXPECT_NE(log_.find("\"GET /\" 303"), std::string::npos) << log_;
  EXPECT_EQ(log_.find("token"), std::string::npos) << log_;
}

TEST_F(ServerHttpTest, APrefixOfAProxyIsServedWithAndWithoutIt) {
  start(*parse_public_url("https://gpu.example.org/profiles/"));
  EXPECT_TRUE(server_->address().starts_with("https://gpu.example.org/profiles/?token="));
  const std::string host = "Host: gpu.example.org\r\n";
  const std::string headers = host + "Authorization: Bearer " + server_->token() + "\r\n";
  EXPECT_EQ(status_of(ask("/profiles/api/v1/sessions", headers)), 200);
  const std::string page = ask("/profiles", headers);
  EXPECT_EQ(status_of(page), 308);
  EXPECT_NE(page.find("Location: /profiles/\r\n"), std::string::npos) << page;
  EXPECT_EQ(status_of(ask("/profiles/", headers)), 200);
  EXPECT_EQ(status_of(ask("/api/v1/sessions", headers)), 200);
  EXPECT_EQ(status_of(ask("/profilesx/api/v1/sessions", headers)), 404);
  EXPECT_EQ(status_of(ask("/profiles/api/v1/sessions", host)), 401);
  // The printed address, and what people make of it: both lead below the prefix.
  for (const std::string path : {"/profiles/", "/profiles", "/"}) {
    const std::string first = ask(path + "?token=" + server_->token(), host);
    EXPECT_EQ(status_of(first), 303) << path;
    EXPECT_NE(first.find("Location: /profiles/\r\n"), std::string::npos) << first;
    EXPECT_NE(first.find("; Path=/profiles;"), std::string::npos) << first;
  }
}

// Behind a proxy that removes the prefix, they would lose a part of their own.
TEST_F(ServerHttpTest, NoPrefixIsTakenForARoute) {
  const std::string answer = ask_as_user("/api/v1/openapi.json");
  const auto document = Json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
  std::set<std::string> firsts = {"/assets", "/healthz", "/metrics"};
  for (const auto& [path, item] : (*document)["paths"].members()) {
    firsts.insert(path.substr(0, path.find('/', 1)));
  }
  for (const std::string& first : firsts) {
    EXPECT_FALSE(parse_public_url("https://gpu.example.org" + first)) << first;
  }
}

TEST_F(ServerHttpTest, APrefixMayBePercentEncoded) {
  start(*parse_public_url("https://gpu.example.org/gpu%20lab"));
  const std::string headers =
      "Host: gpu.example.org:443\r\nAuthorization: Bearer " + server_->token() + "\r\n";
  EXPECT_EQ(status_of(ask("/gpu%20lab/api/v1/sessions", headers)), 200);
  EXPECT_EQ(status_of(ask("/api/v1/sessions", headers)), 200);
  const std::string first = ask("/gpu%20lab/?token=" + server_->token(), headers);
  EXPECT_NE(first.find("Location: /gpu%20lab/\r\n"), std::string::npos) << first;
  EXPECT_NE(first.find("; Path=/gpu%20lab;"), std::string::npos) << first;
}

TEST_F(ServerHttpTest, StrangersAreAnsweredBeforeTheirBody) {
  const std::string body = "Content-Length: 1000000\r\n";
  const std::string notes = "/api/v1/sessions/s0/notes";
  for (const auto& [target, headers, status] :
       {std::tuple{notes, body, 401},
        {"/healthz", body, 401},
        {notes, body + "Host: evil.example\r\n", 421},
        {"http://evil.example" + notes, body, 421},
        {notes, body + "Origin: http://evil.example\r\n", 403}}) {
    const std::string answer = ask(target, headers, "PUT");
    EXPECT_EQ(status_of(answer), status) << target << headers;
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
    EXPECT_NE(answer.find("X-Frame-Options: DENY\r\n"), std::string::npos);
  }
  EXPECT_TRUE(ask("/", "Host: evil.example\r\n").starts_with("HTTP/1.1 421 Misdirected Request"));
}

TEST_F(ServerHttpTest, HeadOfAnExportStartsNothing) {
  const std::string target = "/api/v1/sessions/s0/export?format=csv";
  const std::string token = "Authorization: Bearer " + server_->token() + "\r\n";
  const std::string head = ask(target, token, "HEAD");
  EXPECT_EQ(status_of(head), 200);
  EXPECT_NE(head.find("Content-Type: application/x-tar\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("filename=\"s0.csv.tar\""), std::string::npos) << head;
  EXPECT_EQ(head.find("Content-Length"), std::string::npos) << "nobody knows it";
  EXPECT_FALSE(std::filesystem::exists(cache_.path() / "exports"));
  // The child, which is /bin/false here, does not export.
  EXPECT_EQ(status_of(ask(target, token)), 500);
}

TEST_F(ServerHttpTest, ProblemsDoNotShowWhereTheCacheIs) {
  // A file where a folder should be.
  std::filesystem::remove_all(cache_.path() / "notes");
  const std::string headers = "Authorization: Bearer " + server_->token() +
                              "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n";
  const std::string answer = ask("/api/v1/sessions/s0/notes", headers, "PUT", "{}");
  EXPECT_GE(status_of(answer), 400) << answer;
  EXPECT_NE(answer.find("CACHE"), std::string::npos) << answer;
  EXPECT_EQ(answer.find(cache_.path().string()), std::string::npos) << answer;
}

TEST_F(ServerHttpTest, SessionsAreFoundByTheirTags) {
  const std::string body = R"({"tags":["slow","before fusion"]})";
  const std::string headers =
      "Authorization: Bearer " + server_->token() +
      "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n";
  ASSERT_EQ(status_of(ask("/api/v1/sessions/s3/notes", headers, "PUT", body)), 200);
  const auto matches = [&](const std::string& tag) {
    const std::string answer = ask_as_user("/api/v1/sessions?tag=" + tag);
    const auto list = Json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
    return list ? (*list)["matches"].as_integer() : -1;
  };
  EXPECT_EQ(matches("before%20fusion"), 1);
  EXPECT_EQ(matches("before"), 0) << "a tag is meant as a whole";
  EXPECT_EQ(matches(""), 5);
}

TEST_F(ServerHttpTest, AnEmptyIdIsQuotedOnce) {
  const std::string answer = ask_as_user("/api/v1/diff?a=&b=s0");
  EXPECT_EQ(status_of(answer), 404);
  EXPECT_NE(answer.find("there is no session ''\""), std::string::npos) << answer;
}

// Every path of the document is answered, and nothing else is in the table.
TEST_F(ServerHttpTest, OpenApiIsTheImplementation) {
  const std::string answer = ask_as_user("/api/v1/openapi.json");
  const auto document = Json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
  ASSERT_TRUE(document) << document.status().text();
  std::set<std::string> ids;
  size_t operations = 0;
  for (const auto& [path, item] : (*document)["paths"].members()) {
    for (const auto& [method, operation] : item.members()) {
      ++operations;
      EXPECT_TRUE(ids.insert(operation["operationId"].as_string()).second) << path;
      EXPECT_FALSE(operation["responses"].members().empty()) << path;
      if (method != "get" || path.ends_with("/events")) continue;
      std::string target = path;
      for (size_t at; (at = target.find('{')) != std::string::npos;) {
        target.replace(at, target.find('}') - at + 1, "nothing");
      }
      bool is_asking = false;
      for (const Json& parameter : operation["parameters"].items()) {
        is_asking = is_asking ||
                    (parameter["in"].as_string() == "query" && parameter["required"].as_bool());
      }
      const int status = status_of(ask_as_user(target));
      const int expected = is_asking ? 400 : path.find('{') == std::string::npos ? 200 : 404;
      EXPECT_EQ(status, expected) << path;
      // A parameter that the document does not have is refused.
      EXPECT_EQ(status_of(ask_as_user(target + "?no_such=1")), 400) << path;
    }
  }
  EXPECT_GT(operations, 15U);
}

TEST_F(ServerHttpTest, ManyClientsAtOnceAndAStopInBetween) {
  std::atomic<bool> is_over = false;
  std::atomic<int> answered = 0;
  std::vector<std::thread> clients;
  const uint16_t port = server_->endpoint().port;
  ASSERT_NE(port, 0);
  for (int i = 0; i < 20; ++i) {
    clients.emplace_back([&, i] {
      const std::string id = "s" + std::to_string(i % 5);
      const std::string targets[] = {"/api/v1/sessions",
                                     "/api/v1/sessions/" + id,
                                     "/api/v1/sessions/" + id + "/sections",
                                     "/api/v1/runs",
                                     "/metrics",
                                     "/api/v1/sessions/" + id + "/windows"};
      for (size_t n = 0; !is_over && n < 30; ++n) {
        if (status_of(ask_as_user(targets[n % std::size(targets)])) != 0) ++answered;
      }
    });
  }
  ASSERT_TRUE(base::eventually([&] { return answered > 100; }));
  is_over = true;
  for (std::thread& client : clients) client.join();
  server_->stop();
  server_->stop();
}

// All that asks the index, beside the thread that makes it and files that come and go.
TEST_F(ServerHttpTest, ManyClientsLookAtASessionThatGrowsWhileAnotherGoes) {
  index::testing::RandomSession growing(logs_.path() / "growing", 7);
  growing.add(40);
  format::SessionHeader header = format::testing::test_header();
  const std::string growing_id = header.session_id;
  header.session_id = "leaving";
  auto leaving = format::LogWriter::create(
      format::testing::test_options(logs_.path() / header.session_id), header);
  (*leaving)->write(format::testing::scope_rows(**leaving, 1, 50, 100));
  ASSERT_TRUE((*leaving)->close(1000, {}).is_ok());
  const std::string api = "/api/v1/sessions/";
  const auto is_there = [&](const std::string& id) {
    return status_of(ask_as_user(api + id + "/tracks")) == 200;
  };
  ASSERT_TRUE(base::eventually([&] { return is_there(growing_id) && is_there("leaving"); }));

  std::atomic<bool> is_over = false;
  std::atomic<int> rounds = 0;
  std::vector<std::set<std::string>> wrong(20);
  std::vector<std::thread> clients;
  for (size_t i = 0; i < wrong.size(); ++i) {
    clients.emplace_back([&, i] {
      do {
        for (const std::string_view question :
             {"tracks", "tiles?width=50", "series?width=50", "events?limit=20", "selection",
              "search?q=kernel", "kernels"}) {
          const std::string about = i % 3 == 0 ? "leaving" : growing_id;
          const std::string target = api + about + "/" + std::string(question);
          const int status = status_of(ask_as_user(target));
          const bool is_right = status == 200 || status == 202 || (i % 3 == 0 && status == 404);
          if (!is_right) wrong[i].insert(target + " " + std::to_string(status));
        }
        ++rounds;
      } while (!is_over);
    });
  }
  for (int step = 1; step <= 6; ++step) {
    growing.add(40);
    EXPECT_TRUE(base::eventually([&] { return rounds > 2 * step; }));
    if (step == 3) std::filesystem::remove_all(logs_.path() / "leaving");
  }
  growing.close();
  EXPECT_TRUE(base::eventually([&] {
    const std::string answer = ask_as_user(api + growing_id + "/tracks");
    return answer.find("\"is_live\":false,\"is_complete\":true") != std::string::npos;
  }));
  EXPECT_TRUE(
      base::eventually([&] { return status_of(ask_as_user(api + "leaving/tracks")) == 404; }));
  const int at_rest = rounds;
  EXPECT_TRUE(base::eventually([&] { return rounds > at_rest + 5; }));
  is_over = true;
  for (std::thread& client : clients) client.join();
  for (const auto& targets : wrong) EXPECT_EQ(targets, std::set<std::string>());
}

TEST_F(ServerHttpTest, OtherAddressesThanLoopbackAreRefused) {
  for (const char* address : {"0.0.0.0", "192.0.2.1", "::"}) {
    ServerOptions options;
    options.folder = logs_.path();
    options.cache = cache_.path();
    options.listen.address = address;
    const auto started = Server::start(std::move(options));
    EXPECT_EQ(started.status().code(), base::Code::InvalidArgument) << address;
  }
  ServerOptions options;
  options.folder = logs_.path() / "absent";
  options.cache = cache_.path();
  EXPECT_EQ(Server::start(std::move(options)).status().code(), base::Code::NotFound);
}

}  // namespace
}  // namespace gpufl::server
