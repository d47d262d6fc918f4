// SPDX-License-Identifier: Apache-2.0
#include "server/analysis_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "base/eventually.hpp"
#include "format/test_session.hpp"
#include "server/replies.hpp"

namespace gpufl::server {
namespace {

using base::Code;
using base::eventually;
using base::Json;
using format::testing::file_names;
using format::testing::TempDir;
using State = AnalysisState::State;

// What a child does comes from the request, so that a shell can stand in for it. $1 is the request.
constexpr const char* kStandIn = R"(
key=${1#*\"key\":\"}; key=${key%%\"*}
bytes=${1#*\"log_bytes\":}; bytes=${bytes%%,*}
head="{\"format\":\"gpufl-result\",\"version\":1,\"key\":\"$key\",\"log_bytes\":$bytes,\"parts\":[]}"
case $1 in
  *\"kind\":\"good\"*) echo "$head"; echo done; echo '{"status":"ok"}' >&3 ;;
  *\"kind\":\"slow\"*) echo '{"progress":0.25}' >&3; exec sleep 1000 ;;
  *\"kind\":\"endless\"*) while :; do :; done ;;
  *\"kind\":\"absent\"*) echo '{"status":"NotFound","message":"it has gone"}' >&3; exit 1 ;;
  *\"kind\":\"large\"*) exit 75 ;;
  *\"kind\":\"killed\"*) kill -9 $$ ;;
  *\"kind\":\"crash\"*) kill -SEGV $$ ;;
  *\"kind\":\"silent\"*) exit 0 ;;
  *\"kind\":\"noise\"*) echo 'not json' >&3; exit 3 ;;
  *\"kind\":\"full\"*) echo '{"status":"LimitReached","message":"no space left"}' >&3; exit 1 ;;
esac
)";

class AnalysisPoolTest : public ::testing::Test {
 protected:
  AnalysisPoolTest() { start({}); }

  void start(AnalysisLimits limits) {
    pool_.reset();
    pool_.emplace(cache_, std::vector<std::string>{"/bin/sh", "-c", kStandIn, "sh"}, limits,
                  [this](const AnalysisRequest&, const base::Status&) { ++ended_; });
  }
  static AnalysisRequest request(std::string kind, std::string stamp = "1",
                                 uint64_t log_bytes = 1000, bool is_live = false) {
    AnalysisRequest one;
    one.kind = std::move(kind);
    one.arguments = Json::object().set("path", "/logs/a");
    one.stamp = std::move(stamp);
    one.log_bytes = log_bytes;
    one.is_live = is_live;
    return one;
  }
  AnalysisState finish(const AnalysisRequest& asked) {
    std::optional<AnalysisState> last;
    EXPECT_TRUE(eventually([&] {
      last.emplace(pool_->ask(asked));
      return last->state == State::Ready || last->state == State::Failed;
    }));
    return std::move(*last);
  }
  base::Status failure(const std::string& kind) {
    const AnalysisState state = finish(request(kind));
    EXPECT_EQ(state.state, State::Failed) << kind;
    return state.failure;
  }

  TempDir dir_;
  CacheFolder cache_ = *CacheFolder::open(dir_.path());
  std::atomic<int> ended_ = 0;
  std::optional<AnalysisPool> pool_;
};

TEST_F(AnalysisPoolTest, ResultsAreKeptAndFoundAgain) {
  EXPECT_EQ(pool_->ask(request("good")).state, State::Queued);
  AnalysisState state = finish(request("good"));
  ASSERT_EQ(state.state, State::Ready);
  EXPECT_TRUE(state.is_current);
  EXPECT_EQ(state.result->reply(state.result->whole(), "t").body, "done\n");
  ASSERT_TRUE(eventually([&] { return ended_ == 1; }));
  EXPECT_EQ(pool_->counts().started, 1U);
  // By the next server too.
  start({});
  EXPECT_EQ(pool_->ask(request("good")).state, State::Ready);
  EXPECT_EQ(pool_->counts().started, 0U);
  EXPECT_EQ(file_names(dir_.path() / "results").size(), 1U);
  // Of other files it is another result.
  EXPECT_EQ(pool_->ask(request("good", "2")).state, State::Queued);
}

TEST_F(AnalysisPoolTest, ALiveSessionIsAnalysedAgainOnceItGrewByAQuarter) {
  finish(request("good", "1", 1000, true));
  const AnalysisState little = pool_->ask(request("good", "2", 1249, true));
  EXPECT_EQ(little.state, State::Ready);
  EXPECT_FALSE(little.is_current);
  EXPECT_EQ(pool_->counts().started, 1U);
  // The old result is given while the next is made.
  const AnalysisState more = pool_->ask(request("good", "3", 1250, true));
  EXPECT_EQ(more.state, State::Ready);
  EXPECT_FALSE(more.is_current);
  ASSERT_TRUE(eventually([&] { return pool_->ask(request("good", "3", 1250, true)).is_current; }));
  ASSERT_TRUE(eventually([&] { return pool_->counts().running == 0; }));
  EXPECT_EQ(pool_->counts().started, 2U);
  // One that has ended wants all of it.
  EXPECT_EQ(pool_->ask(request("good", "4", 1251, false)).state, State::Queued);
}

TEST_F(AnalysisPoolTest, FailuresSayWhy) {
  EXPECT_EQ(failure("absent").code(), Code::NotFound);
  EXPECT_EQ(failure("absent").message(), "it has gone");
  const base::Status large = failure("large");
  EXPECT_EQ(large.code(), Code::LimitReached);
  EXPECT_NE(large.message().find("start the server with more than 2.000 GiB"), std::string::npos)
      << large.message();
  EXPECT_EQ(problem_of(large).status, 507);
  EXPECT_EQ(failure("killed").code(), Code::Unavailable);
  EXPECT_EQ(failure("full").message(), "no space left");
  EXPECT_EQ(failure("crash").message(), "the analysis was ended by signal 11");
  EXPECT_EQ(failure("silent").code(), Code::Internal);
  EXPECT_EQ(failure("noise").message(), "the analysis ended with code 3 and said nothing");
  // Nothing of them stays.
  EXPECT_TRUE(file_names(dir_.path() / "results").empty());
  // Asked again, none is tried again.
  const uint64_t started = pool_->counts().started;
  EXPECT_EQ(pool_->ask(request("large")).state, State::Failed);
  EXPECT_EQ(pool_->counts().started, started);
}

TEST_F(AnalysisPoolTest, AGrowingSessionThatFailsIsNotTriedEverySecond) {
  EXPECT_EQ(finish(request("large", "1", 1000, true)).state, State::Failed);
  EXPECT_EQ(finish(request("crash", "1", 1000, true)).state, State::Failed);
  // Too large stays too large; what failed for another reason is tried after a quarter more.
  EXPECT_EQ(pool_->ask(request("large", "2", 5000, true)).state, State::Failed);
  EXPECT_EQ(pool_->ask(request("large", "3", 6000, false)).state, State::Failed);
  EXPECT_EQ(pool_->ask(request("crash", "2", 1200, true)).state, State::Failed);
  EXPECT_EQ(pool_->counts().started, 2U);
  EXPECT_EQ(pool_->ask(request("crash", "3", 1300, true)).state, State::Queued);
}

TEST_F(AnalysisPoolTest, WhatTakesTooLongIsStopped) {
  AnalysisLimits limits;
  limits.time = std::chrono::milliseconds(400);
  start(limits);
  // It sleeps, so it may have been the machine.
  const base::Status late = failure("slow");
  EXPECT_EQ(late.code(), Code::Unavailable);
  EXPECT_EQ(late.message(), "it was not ready after 400ms, while the machine was busy otherwise");
  // Again, where a busy machine has no processor for it.
  limits.time = std::chrono::milliseconds(1);
  limits.retry_time = std::chrono::milliseconds(50);
  start(limits);
  ASSERT_TRUE(eventually([&] { return failure("endless").code() == Code::LimitReached; }));
  EXPECT_EQ(failure("endless").message(), "it takes longer than 1ms");
  using std::chrono::milliseconds;
  EXPECT_TRUE(used_its_time(milliseconds(50), milliseconds(100)));
  EXPECT_FALSE(used_its_time(milliseconds(49), milliseconds(100)));
}

TEST_F(AnalysisPoolTest, AFailureThatMayPassIsTriedAgain) {
  AnalysisLimits limits;
  limits.time = std::chrono::milliseconds(400);
  const auto again = [&](const AnalysisRequest& asked, std::chrono::milliseconds retry_time) {
    limits.retry_time = retry_time;
    start(limits);
    pool_->ask(asked);
    EXPECT_TRUE(eventually([&] { return pool_->counts().failed == 1; })) << asked.kind;
    return pool_->ask(asked).state;
  };
  for (const bool is_live : {false, true}) {
    for (const std::string kind : {"killed", "full", "crash", "slow"}) {
      const AnalysisRequest asked = request(kind, "1", 1000, is_live);
      EXPECT_EQ(again(asked, std::chrono::hours(1)), State::Failed) << kind;
      EXPECT_EQ(again(asked, std::chrono::hours(0)), State::Queued) << kind;
    }
    for (const std::string kind : {"absent", "large"}) {
      const AnalysisRequest asked = request(kind, "1", 1000, is_live);
      EXPECT_EQ(again(asked, std::chrono::hours(0)), State::Failed) << kind;
    }
  }
}

TEST_F(AnalysisPoolTest, TheQueueIsBoundedAndSaysHowFarItIs) {
  AnalysisLimits limits;
  limits.queued = 2;
  start(limits);
  ASSERT_TRUE(eventually([&] {
    const AnalysisState state = pool_->ask(request("slow"));
    return state.state == State::Running && state.progress == 0.25;
  }));
  EXPECT_EQ(pool_->ask(request("good")).state, State::Queued);
  EXPECT_EQ(pool_->ask(request("absent")).state, State::Queued);
  EXPECT_EQ(pool_->ask(request("large")).state, State::Busy);
  EXPECT_EQ(unready_reply(pool_->ask(request("large"))).status, 503);
  // Of one that grows, one at a time is enough.
  EXPECT_EQ(pool_->ask(request("good", "2", 2000, true)).state, State::Queued);
  EXPECT_EQ(pool_->ask(request("slow", "2", 2000, true)).state, State::Running);
  EXPECT_EQ(pool_->counts().queued, 2U);
  const net::HttpReply reply = unready_reply(pool_->ask(request("slow")));
  EXPECT_EQ(reply.status, 202);
  EXPECT_EQ(reply.body, "{\"state\":\"running\",\"progress\":0.25}\n");
  EXPECT_NE(net::find_header(reply.headers, "Retry-After"), nullptr);
  // Stopped with the pool, within the test's time; nothing is left.
  pool_.reset();
  EXPECT_TRUE(file_names(dir_.path() / "results").empty());
}

TEST_F(AnalysisPoolTest, AProgramThatDoesNotStartIsAFailure) {
  pool_.emplace(cache_, std::vector<std::string>{"/no/such/program"}, AnalysisLimits{}, nullptr);
  EXPECT_EQ(failure("good").code(), Code::NotFound);
}

}  // namespace
}  // namespace gpufl::server
