// SPDX-License-Identifier: Apache-2.0
// How scopes stop for ranges of hardware counters: the recorder of scopes, and a stand-in for the
// engine on a thread of its own.

#include <gtest/gtest.h>
#include <gpufl/scope.hpp>

#include <atomic>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backend/scope_stops.hpp"
#include "capture/scope_recorder.hpp"

namespace gpufl::capture {
namespace {

using backend::ScopeStops;

class RangeScopes : public testing::Test {
 protected:
  void SetUp() override {
    session_ = scope_recorder::attach();
    ASSERT_NE(session_, 0u);
    scope_recorder::start_recording(session_);
  }
  void TearDown() override {
    end_engine();
    scope_recorder::stop_recording();
    scope_recorder::release();
    stops_.set_patience(ScopeStops::kPatience);
  }

  // Answers from now on, and notes what it is asked for, as "+step 0" and "-step".
  void start_engine(const std::vector<uint32_t>& passes, bool is_new = true) {
    if (is_new) stops_.begin_session();
    stops_.listen(passes);
    engine_ = std::thread([this, passes] {
      while (!is_ending_) {
        const auto request = stops_.wait(std::chrono::milliseconds(5));
        if (!request) continue;
        if (request->opens) {
          asked_ += "+" + request->scope + std::to_string(request->group);
          (void)stops_.opened(true);
        } else {
          asked_ += request->is_discarded ? "x" : "-";
          is_inside_ = request->thread != 0 && request->inside_ns != 0;
          beside_ = request->beside;
          const bool is_done = request->pass + 1 == passes[request->group];
          stops_.closed(request->is_discarded ? std::nullopt : std::optional(is_done));
        }
      }
    });
  }
  void end_engine() {
    is_ending_ = true;
    if (engine_.joinable()) engine_.join();
    (void)stops_.stop();
  }

  ScopeStops& stops_ = ScopeStops::instance();
  uint32_t session_ = 0;
  std::thread engine_;
  std::atomic<bool> is_ending_{false};
  std::string asked_;  // the engine's thread, until it has ended
  bool is_inside_ = false;
  std::set<std::string> beside_;
};

TEST_F(RangeScopes, WithoutAnEngineNoneStops) {
  const ScopedMonitor scope("step");
  EXPECT_FALSE(stops_.is_listening());
  EXPECT_FALSE(stops_.progress().is_open);
}

TEST_F(RangeScopes, EachScopeStopsAtItsBeginAndItsEnd) {
  start_engine({1, 1});
  for (int i = 0; i < 3; ++i) const ScopedMonitor scope("step");
  end_engine();
  EXPECT_EQ(asked_, "+step0-+step1-") << "the third has nothing to wait for";
  EXPECT_TRUE(is_inside_);
}

TEST_F(RangeScopes, IterationsOfABenchmarkAreRangesAndItsWarmUpIsNone) {
  start_engine({1, 2});
  int warm_ups = 0, iterations = 0;
  GFL_BENCH("gemm", ScopeMeta{}.setRepeat(4).setWarmup(2)) {
    ++(asked_.empty() ? warm_ups : iterations);
  };
  end_engine();
  EXPECT_EQ(asked_, "+gemm0-+gemm1-+gemm1-");
  EXPECT_EQ(warm_ups, 2);
  EXPECT_EQ(iterations, 4) << "none more than was asked for";
}

TEST_F(RangeScopes, ScopesInsideTakeTurnsWithTheOneAround) {
  start_engine({1, 1});
  for (int i = 0; i < 4; ++i) {
    const ScopedMonitor step("step");
    const ScopedMonitor forward("forward");
  }
  end_engine();
  EXPECT_EQ(asked_, "+step0-+forward0-+step1-+forward1-");
}

TEST_F(RangeScopes, ALoopAroundScopesIsGivenUpForThem) {
  start_engine({1});
  {
    const ScopedMonitor epoch("epoch");
    for (uint32_t i = 0; i < backend::RangePlan::kLoop; ++i) const ScopedMonitor step("step");
    while (stops_.progress().is_open) std::this_thread::yield();
    const ScopedMonitor step("step");
  }
  end_engine();
  EXPECT_EQ(asked_, "+epoch0x+step0-");
}

TEST_F(RangeScopes, ScopesOfOtherThreadsDoNotWaitAndAreNamed) {
  start_engine({1});
  {
    const ScopedMonitor step("step");
    std::thread([] { const ScopedMonitor load("load"); }).join();
    const ScopedMonitor inner("inner");
  }
  end_engine();
  EXPECT_EQ(asked_, "+step0-");
  EXPECT_EQ(beside_, std::set<std::string>{"load"});
}

TEST_F(RangeScopes, AScopeThatAnotherThreadHasOpenBeforeIsNamedToo) {
  stops_.begin_session();
  stops_.listen({});
  std::promise<void> begun, ending;
  std::thread other([&] {
    const ScopedMonitor load("load");
    begun.set_value();
    ending.get_future().wait();
  });
  begun.get_future().wait();
  start_engine({1}, false);
  {
    const ScopedMonitor step("step");
  }
  ending.set_value();
  other.join();
  end_engine();
  EXPECT_EQ(asked_, "+step0-");
  EXPECT_EQ(beside_, std::set<std::string>{"load"});
}

TEST_F(RangeScopes, AScopeThatNobodyAnswersGoesOnAndNoOtherStops) {
  stops_.begin_session();
  stops_.set_patience(std::chrono::milliseconds(1));
  stops_.listen({1});
  {
    const ScopedMonitor scope("step");
  }
  EXPECT_TRUE(stops_.has_run_out());
  EXPECT_FALSE(stops_.is_listening());
  ASSERT_TRUE(stops_.wait(std::chrono::nanoseconds(0)).has_value());
  EXPECT_FALSE(stops_.opened(true)) << "so it has to be closed again";
  EXPECT_EQ(stops_.progress().skipped, 1u);
  EXPECT_FALSE(stops_.progress().is_open);
}

TEST_F(RangeScopes, OneThatWaitsIsLetGoWhenTheEngineEnds) {
  stops_.begin_session();
  stops_.listen({1});
  std::thread program([] { const ScopedMonitor scope("step"); });
  while (!stops_.progress().is_open) std::this_thread::yield();
  EXPECT_EQ(stops_.stop().count("step"), 1u);
  program.join();
  EXPECT_FALSE(stops_.has_run_out());
}

}  // namespace
}  // namespace gpufl::capture
