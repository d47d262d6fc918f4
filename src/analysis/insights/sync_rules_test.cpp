// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "analysis/insights/test_program.hpp"

namespace gpufl::analysis::testing {
namespace {

// A loop: each turn launches `kernels` kernels of 100 us, waits for them and then runs host code
// for 50 us. A launch takes 5 us, and its kernel starts 2 us later.
struct Loop {
  int turns = 10;
  int kernels = 3;
  uint8_t call = 3;
  uint32_t stack = 0;
  int64_t kernel_ns = 100 * kUs, host_ns = 50 * kUs;
  int64_t own_pause_ns = 0;  // of the GPU, between two kernels that are queued
  int late_turn = -1;        // whose wait returns 500 us later than others
  int64_t begin_ns = 0;
};

void add_loop(TestProgram& program, const Loop& loop) {
  int64_t now = loop.begin_ns, correlation = 0;
  for (int turn = 0; turn < loop.turns; ++turn) {
    int64_t gpu_free = 0;
    for (int i = 0; i < loop.kernels; ++i) {
      const int64_t start = std::max(i == 0 ? 0 : gpu_free + loop.own_pause_ns, now + 7 * kUs);
      program.kernel("step", start, loop.kernel_ns,
                     {.api_start = now, .api_duration = 5 * kUs, .correlation = ++correlation});
      now += 5 * kUs;
      gpu_free = start + loop.kernel_ns;
    }
    const int64_t returns =
        std::max(gpu_free, now) + (turn == loop.late_turn ? 505 * kUs : 5 * kUs);
    program.wait(loop.call, now, returns - now, {.stack = loop.stack});
    now = returns + loop.host_ns;
  }
}

TEST(SyncAttribution, HotLineWithItsShareOfTheSession) {
  TestProgram program;
  const uint32_t line = program.line("/home/me/bench/03_pytorch_benchmark.py", 90, "train_step");
  for (int i = 0; i < 50; ++i) {
    program.wait(4, i * 1'549'000'000LL, 1'471'600'000LL, {.stack = line});
  }
  program.data.summary.duration_ns = 77'453'000'000LL;
  const auto found = of_rule(program.insights(), "sync_attribution");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "ContextSynchronize × 50 @ 03_pytorch_benchmark.py:90 · 73.58s (95.0% of session)");
  EXPECT_EQ(found[0].detail,
            "73.58s blocked across 50 calls at 03_pytorch_benchmark.py:90 in train_step()");
  EXPECT_EQ(found[0].severity, Severity::High);
  EXPECT_EQ(found[0].category, Category::Synchronization);
  EXPECT_FALSE(found[0].gain_ns);
  ASSERT_EQ(found[0].evidence.size(), 1u);
  EXPECT_EQ(found[0].evidence[0].file, "/home/me/bench/03_pytorch_benchmark.py");
  EXPECT_EQ(found[0].evidence[0].line, 90);
}

TEST(SyncAttribution, SeverityIsAboveHalfAndAboveATenth) {
  const auto severity = [](int64_t blocked_ns) {
    TestProgram program;
    program.wait(3, 0, blocked_ns, {.stack = program.line("/home/me/a.py", 1, "f")});
    program.data.summary.duration_ns = 1'000'000;
    return of_rule(program.insights(), "sync_attribution").at(0).severity;
  };
  EXPECT_EQ(severity(500'001), Severity::High);
  EXPECT_EQ(severity(500'000), Severity::Medium);
  EXPECT_EQ(severity(100'001), Severity::Medium);
  EXPECT_EQ(severity(100'000), Severity::Low);
  EXPECT_EQ(severity(1), Severity::Low);
}

TEST(SyncAttribution, NothingWithoutStacks) {
  TestProgram program;
  program.wait(3, 0, kS);
  EXPECT_TRUE(of_rule(program.insights(), "sync_attribution").empty());
}

TEST(SyncAttribution, LinesThatLeadToTheSamePlaceAreOne) {
  TestProgram program;
  for (int i = 0; i < 3; ++i) {  // three stacks of one line
    program.wait(3, i * kMs, kUs, {.stack = program.line("/home/me/a.py", 7, "f")});
  }
  program.wait(3, 9 * kMs, kUs, {.stack = program.line("/home/me/a.py", 8, "f")});
  EXPECT_EQ(of_rule(program.insights(), "sync_attribution").size(), 2u);
}

TEST(InLoopSync, ThreeSyncsWithThreeLaunchesBetween) {
  TestProgram program;
  add_loop(program, {.turns = 50, .stack = program.line("/home/me/train.py", 90, "train_step")});
  const auto found = of_rule(program.insights(), "in_loop_sync");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "In-loop sync × 50 — likely blocking GPU pipelining");
  EXPECT_EQ(found[0].advice,
            "Move the sync outside the loop or capture the loop body into a CUDA graph (replay "
            "amortizes launch overhead).");
  EXPECT_NE(found[0].detail.find("blocked across 50 calls at train.py:90 in train_step()"),
            std::string::npos);
  // A turn takes 7 + 300 + 5 + 50 us; without the wait it takes the GPU's 300.
  ASSERT_TRUE(found[0].gain_ns);
  EXPECT_NEAR(*found[0].gain_ns, 49 * 62.0 * kUs, 5.0 * kUs);
  EXPECT_EQ(found[0].confidence, Confidence::High);
}

TEST(InLoopSync, SaysAllThatTheirLineWaits) {
  TestProgram program;
  const uint32_t loop = program.line("/home/me/train.py", 90, "train_step");
  add_loop(program, {.turns = 50, .stack = loop});
  program.wait(3, 40 * kMs, kMs, {.stack = program.line("/home/me/train.py", 99, "save")});
  const auto insights = program.insights();
  const auto others = of_rule(insights, "sync_attribution");
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0].evidence.at(0).line, 99);
  const auto found = of_rule(insights, "in_loop_sync");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].evidence.at(0).line, 90);
  EXPECT_EQ(found[0].evidence.at(0).text,
            "3 launches between two of them (median), the longest call took 297.0 us, 36.2% of "
            "session blocked");
}

TEST(InLoopSync, LinesBeyondThoseThatAreToldAreTold) {
  TestProgram program;
  for (int i = 0; i < 3; ++i) {
    add_loop(program, {.stack = program.line("/home/me/a.py", i + 1, "f"),
                       .host_ns = (10 + 10 * i) * kUs,
                       .begin_ns = i * 100 * kMs});
  }
  Thresholds thresholds;
  thresholds.insights.max_per_rule = 2;
  const auto insights = program.insights(thresholds);
  EXPECT_EQ(of_rule(insights, "in_loop_sync").size(), 2u);
  const auto others = of_rule(insights, "sync_attribution");
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0].evidence.at(0).line, 1);  // that saves least
}

TEST(InLoopSync, PausesThatQueuedWorkHasStay) {
  TestProgram program;
  add_loop(program, {.turns = 50,
                     .stack = program.line("/home/me/train.py", 90, "train_step"),
                     .own_pause_ns = 2 * kUs});
  const auto found = of_rule(program.insights(), "in_loop_sync");
  ASSERT_EQ(found.size(), 1u);
  // The two pauses between the kernels of a turn, and as much of the one after the wait.
  EXPECT_NEAR(*found[0].gain_ns, 49 * 60.0 * kUs, 5.0 * kUs);
}

TEST(InLoopSync, WhatRecordingTookIsLeftOut) {
  TestProgram program;
  add_loop(program, {.turns = 50, .stack = program.line("/home/me/train.py", 90, "train_step")});
  format::Ledger& ledger = program.data.summary.ledger.emplace();
  ledger.launches_seen = 150;
  ledger.writer.rows = {{"kernel", 150}, {"sync", 50}};
  ledger.callback_ns = 200 * 3 * kUs;
  const auto found = of_rule(program.insights(), "in_loop_sync");
  ASSERT_EQ(found.size(), 1u);
  // Three as measured, and one of the vendor's.
  EXPECT_NEAR(*found[0].gain_ns, 49 * 58.0 * kUs, 5.0 * kUs);
  EXPECT_NE(found[0].estimate.find("3.000 us per call as measured and 1.000 us assumed"),
            std::string::npos)
      << found[0].estimate;
}

TEST(InLoopSync, AReturnThatTookFarLongerOnceIsNotTheLoops) {
  TestProgram program;
  add_loop(
      program,
      {.turns = 50, .stack = program.line("/home/me/train.py", 90, "train_step"), .late_turn = 20});
  const auto found = of_rule(program.insights(), "in_loop_sync");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(*found[0].gain_ns, 49 * 62.0 * kUs + 45.0 * kUs, 5.0 * kUs);
}

TEST(InLoopSync, NotWithTwoSyncsNorWithTwoLaunchesBetween) {
  TestProgram two_syncs;
  add_loop(two_syncs, {.turns = 2, .stack = two_syncs.line("/home/me/a.py", 1, "f")});
  EXPECT_TRUE(of_rule(two_syncs.insights(), "in_loop_sync").empty());
  TestProgram two_launches;
  add_loop(two_launches, {.kernels = 2, .stack = two_launches.line("/home/me/a.py", 1, "f")});
  EXPECT_TRUE(of_rule(two_launches.insights(), "in_loop_sync").empty());
  TestProgram three;
  add_loop(three, {.turns = 3, .stack = three.line("/home/me/a.py", 1, "f")});
  EXPECT_EQ(of_rule(three.insights(), "in_loop_sync").size(), 1u);
}

TEST(InLoopSync, KernelsOfOneGraphLaunchAreOneCorrelation) {
  TestProgram program;
  const uint32_t line = program.line("/home/me/a.py", 1, "f");
  for (int turn = 0; turn < 10; ++turn) {
    for (int i = 0; i < 8; ++i) {
      program.kernel("node", turn * kMs + i * 10 * kUs, 9 * kUs, {.correlation = turn + 1},
                     {.graph = 1});
    }
    program.wait(3, turn * kMs + 100 * kUs, kUs, {.stack = line});
  }
  EXPECT_TRUE(of_rule(program.insights(), "in_loop_sync").empty());
}

TEST(InLoopSync, StreamsThatWaitForEventsBlockNobody) {
  TestProgram program;
  add_loop(program, {.call = 2, .stack = program.line("/home/me/a.py", 1, "f")});
  const auto insights = program.insights();
  EXPECT_TRUE(of_rule(insights, "in_loop_sync").empty());
  const auto told = of_rule(insights, "sync_attribution");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].title, "StreamWaitEvent × 10 @ a.py:1 · holds up a stream, not the host");
  EXPECT_EQ(told[0].severity, Severity::Low);
}

TEST(InLoopSync, GainIsNoMoreThanWhatTheHostLeaves) {
  // Kernels of 1 us: the host, which takes 15 us to launch and 50 us of its own, is the limit. What
  // a turn of 77 us can lose are the 12 us in the wait.
  TestProgram program;
  add_loop(program,
           {.turns = 101, .stack = program.line("/home/me/a.py", 1, "f"), .kernel_ns = 1 * kUs});
  const auto found = of_rule(program.insights(), "in_loop_sync");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(*found[0].gain_ns, 100 * 8.0 * kUs, 100.0 * kUs);
}

TEST(InLoopSync, APauseOfOneTurnIsNotTheLoops) {
  TestProgram program;
  const uint32_t line = program.line("/home/me/a.py", 1, "f");
  add_loop(program, {.turns = 10, .stack = line});
  // Half a second later, as after a checkpoint, the loop goes on.
  const int64_t later = 500 * kMs;
  for (int turn = 0; turn < 10; ++turn) {
    for (int i = 0; i < 3; ++i) {
      program.kernel("step", later + turn * 300 * kUs + i * 100 * kUs, 100 * kUs,
                     {.api_start = later + turn * 300 * kUs + i * kUs - 20 * kUs});
    }
    program.wait(3, later + turn * 300 * kUs + 10 * kUs, 290 * kUs, {.stack = line});
  }
  const auto found = of_rule(program.insights(), "in_loop_sync");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LT(*found[0].gain_ns, 2.0 * kMs);
}

TEST(InLoopSync, OtherWaitsInTheLoopLeaveOnlyItsOwnPause) {
  TestProgram program;
  const uint32_t first = program.line("/home/me/a.py", 1, "f");
  const uint32_t second = program.line("/home/me/a.py", 2, "f");
  int64_t now = 0;
  for (int turn = 0; turn < 20; ++turn) {
    for (const uint32_t line : {first, second}) {
      for (int i = 0; i < 2; ++i) {
        program.kernel("step", now + 10 * kUs + i * 100 * kUs, 100 * kUs,
                       {.api_start = now + i * 5 * kUs, .api_duration = 5 * kUs});
      }
      program.wait(3, now + 10 * kUs, 205 * kUs, {.stack = line});
      now += 230 * kUs;  // pauses of 30 us
    }
  }
  const auto found = of_rule(program.insights(), "in_loop_sync");
  ASSERT_EQ(found.size(), 2u);
  for (const Insight& insight : found) {
    EXPECT_NEAR(*insight.gain_ns, 19 * 30.0 * kUs, 1.0 * kUs);
    EXPECT_EQ(insight.confidence, Confidence::Medium);
  }
}

}  // namespace
}  // namespace gpufl::analysis::testing
