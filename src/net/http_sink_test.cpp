// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>

#include "base/eventually.hpp"
#include "net/test_client.hpp"

namespace gpufl::net {
namespace {

// Remembers what it took, and waits where it is told to.
struct Kept : BodySink {
  explicit Kept(std::atomic<int>& alive_in) : alive(alive_in) { ++alive; }
  ~Kept() override { --alive; }
  void take(std::string_view part) noexcept override {
    most = std::max(most, part.size());
    text += part;
    while (is_waiting != nullptr && *is_waiting) std::this_thread::yield();
  }

  std::atomic<int>& alive;
  std::string text;
  size_t most = 0;
  std::atomic<bool>* is_waiting = nullptr;
};

class HttpSinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    HttpLimits limits;
    limits.body_bytes = 1000;
    auto started = HttpServer::start(
        {},
        [](const HttpRequest& request) {
          const auto* kept = static_cast<const Kept*>(request.sink.get());
          if (kept == nullptr) return reply_with("text/plain", "no sink " + request.body);
          EXPECT_EQ(request.body, "");
          EXPECT_LE(kept->most, size_t{300} * 1024);
          return reply_with("text/plain", kept->text);
        },
        limits, {},
        [this](const HttpRequest& head) {
          HeadVerdict verdict;
          if (head.path != "/sink") return verdict;
          auto kept = std::make_shared<Kept>(alive_);
          kept->is_waiting = &is_waiting_;
          verdict.sink = std::move(kept);
          verdict.sink_bytes = size_t{3} << 20;
          verdict.sink_time = std::chrono::seconds(60);
          return verdict;
        });
    ASSERT_TRUE(started) << started.status().text();
    server_ = std::move(*started);
  }
  static std::string post(const std::string& path, size_t size) {
    return "POST " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) +
           "\r\n\r\n";
  }

  std::atomic<int> alive_ = 0;
  std::atomic<bool> is_waiting_ = false;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpSinkTest, TakesABodyInPartsAndLeavesOtherRequestsAsTheyAre) {
  Client client(*server_);
  std::string large(size_t{2} << 20, 'x');
  for (size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i / 1000 % 26);
  EXPECT_TRUE(client.ask(post("/sink", large.size()) + large).body == large);
  EXPECT_EQ(client.ask(post("/sink", 5) + "small").body, "small");
  EXPECT_EQ(client.ask(post("/sink", 0)).body, "");
  EXPECT_EQ(client
                .ask("POST /sink HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
                .body,
            "abcde");
  EXPECT_EQ(client.ask(post("/other", 4) + "body").body, "no sink body");
  EXPECT_TRUE(base::eventually([&] { return alive_ == 0; }));
}

TEST_F(HttpSinkTest, BoundsEachBodyByItsOwnLimit) {
  Client sink(*server_), other(*server_), chunked(*server_);
  EXPECT_EQ(sink.ask(post("/sink", (size_t{3} << 20) + 1)).status, 413);
  EXPECT_EQ(other.ask(post("/other", 1001)).status, 413);
  const std::string part = "fffff\r\n" + std::string(0xfffff, 'x') + "\r\n";
  ASSERT_TRUE(chunked.send("POST /sink HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
                           part + part + part + "5\r\nabcde\r\n0\r\n\r\n"));
  EXPECT_EQ(chunked.read_response().status, 413);
}

TEST_F(HttpSinkTest, ASinkThatWaitsLetsItsClientWaitAndNobodyElse) {
  is_waiting_ = true;
  Client slow(*server_), gone(*server_), other(*server_);
  const std::string text(size_t{1} << 20, 'y');
  ASSERT_TRUE(gone.send(post("/sink", 5) + "abcde"));
  ASSERT_TRUE(slow.send(post("/sink", text.size()) + text.substr(0, 400'000)));
  ASSERT_TRUE(base::eventually([&] { return alive_ == 2; }));
  gone.reset();
  is_waiting_ = false;
  ASSERT_TRUE(slow.send(text.substr(400'000)));
  EXPECT_TRUE(slow.read_response().body == text);
  EXPECT_EQ(other.ask(post("/other", 1) + "z").body, "no sink z");
  EXPECT_TRUE(base::eventually([&] { return alive_ == 0; }));
}

TEST_F(HttpSinkTest, AServerStopsWhileABodyArrives) {
  Client client(*server_);
  ASSERT_TRUE(client.send(post("/sink", 1'000'000) + std::string(300'000, 'x')));
  ASSERT_TRUE(base::eventually([&] { return alive_ == 1; }));
  EXPECT_EQ(server_->stop(), 0U);
  server_.reset();
  EXPECT_EQ(alive_, 0);
}

}  // namespace
}  // namespace gpufl::net
