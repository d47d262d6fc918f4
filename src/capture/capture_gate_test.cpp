// SPDX-License-Identifier: Apache-2.0
#include "capture/capture_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace gpufl::capture {
namespace {

constexpr int64_t kStart = 1'000'000;

std::unique_ptr<RangeGate> make(std::string_view range) {
  auto gate = RangeGate::make(range, kStart);
  EXPECT_TRUE(gate) << gate.status().text();
  return gate ? std::move(*gate) : nullptr;
}

TEST(CaptureGate, OnlyWhatItKnows) {
  for (const char* range : {"cudaProfilerApi", "nvtx:step", "scope:train/step", "nvtx:a:b"}) {
    EXPECT_TRUE(RangeGate::make(range, 0)) << range;
  }
  for (const char* range : {"", "cudaProfiler", "nvtx:", "scope:", "step"}) {
    EXPECT_FALSE(RangeGate::make(range, 0)) << range;
  }
}

TEST(CaptureGate, ProfilerCallsOpenAndCloseExactly) {
  const auto gate = make("cudaProfilerApi");
  EXPECT_FALSE(gate->is_open(5));
  gate->on_profiler_start(kStart + 10);
  gate->on_profiler_start(kStart + 15);  // again: no nesting
  gate->on_profiler_stop(kStart + 20);
  gate->on_profiler_stop(kStart + 25);
  gate->on_profiler_start(kStart + 30);
  gate->settle(40);
  EXPECT_FALSE(gate->is_open(9));
  EXPECT_TRUE(gate->is_open(10));
  EXPECT_TRUE(gate->is_open(19));
  EXPECT_FALSE(gate->is_open(20));
  EXPECT_FALSE(gate->is_open(29));
  EXPECT_TRUE(gate->is_open(30));
  EXPECT_EQ(gate->opened(), 2u);
  EXPECT_EQ(gate->summary(1)["name"].as_string(), "capture_range");
}

TEST(CaptureGate, RangesNestAndOverlapAcrossThreads) {
  const auto gate = make("nvtx:step");
  gate->on_range("step", true, kStart + 10);
  gate->on_range("other", true, kStart + 11);
  gate->on_range("step", true, kStart + 12);
  gate->on_range("step", false, kStart + 14);
  gate->on_range("other", false, kStart + 15);
  gate->on_range("step", false, kStart + 16);
  gate->on_profiler_start(kStart + 18);  // not what it listens to
  gate->settle(20);
  EXPECT_FALSE(gate->is_open(9));
  for (int64_t time = 10; time < 16; ++time) EXPECT_TRUE(gate->is_open(time)) << time;
  EXPECT_FALSE(gate->is_open(16));
  EXPECT_FALSE(gate->is_open(19));
  EXPECT_EQ(gate->opened(), 1u);
}

TEST(CaptureGate, AnEndWithoutBeginDoesNotKeepItShut) {
  const auto gate = make("nvtx:step");
  gate->on_range("step", false, kStart + 5);
  gate->on_range("step", true, kStart + 10);
  gate->settle(20);
  EXPECT_TRUE(gate->is_open(10));
}

TEST(CaptureGate, ScopesOfSeveralThreadsComeOneThreadAfterTheOther) {
  const auto gate = make("scope:step");
  EXPECT_EQ(gate->scope_name(), "step");
  gate->on_scope(true, 30);  // of one thread
  gate->on_scope(false, 40);
  gate->on_scope(true, 10);  // of another
  gate->on_scope(false, 35);
  gate->on_scope(true, 50);  // not known of every thread yet
  gate->settle(45);
  EXPECT_TRUE(gate->is_open(10));
  EXPECT_TRUE(gate->is_open(36));
  EXPECT_FALSE(gate->is_open(40));
  EXPECT_FALSE(gate->is_open(50));
  gate->settle(60);
  EXPECT_TRUE(gate->is_open(50));
}

TEST(CaptureGate, NeverOpenedIsSaid) {
  const auto gate = make("nvtx:step");
  gate->settle(100);
  EXPECT_EQ(gate->summary(1)["name"].as_string(), "capture_range_never_opened");
  EXPECT_EQ(gate->summary(1)["text"].as_string(), "nvtx:step");
  EXPECT_EQ(make("cudaProfilerApi")->scope_name(), "");
}

TEST(CaptureGate, MoreCallsThanThereIsRoomForAreCounted) {
  const auto gate = make("cudaProfilerApi");
  for (int64_t i = 0; i < 100; ++i) gate->on_profiler_start(kStart + 1 + i);
  gate->settle(200);
  EXPECT_GT(gate->summary(1)["lost"].as_integer(), 0);
  EXPECT_TRUE(gate->is_open(150));
}

TEST(CaptureGate, CallsFromManyThreadsMeanwhile) {
  const auto gate = make("cudaProfilerApi");
  std::atomic<int> running{4};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 1000; ++i) gate->on_profiler_start(kStart + 1 + i * 4 + t);
      --running;
    });
  }
  while (running > 0) gate->settle(0);  // takes the calls, decides nothing yet
  for (std::thread& thread : threads) thread.join();
  gate->settle(5000);
  EXPECT_TRUE(gate->is_open(4999));
  EXPECT_EQ(gate->opened(), 1u);
}

}  // namespace
}  // namespace gpufl::capture
