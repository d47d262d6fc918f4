// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "analysis/insights/gap_causes.hpp"
#include "analysis/insights/test_program.hpp"

namespace gpufl::analysis::testing {
namespace {

// Ten kernels of 1 ms with pauses of `pause_ns`, which `fill` explains: it gets the pause and gives
// when the next kernel was asked for.
template <typename Fill>
std::vector<Insight> pauses(TestProgram& program, int64_t pause_ns, Fill fill,
                            uint32_t launch_stack = 0) {
  int64_t now = 0;
  int64_t launched = -20 * kUs;
  for (int i = 0; i < 10; ++i) {
    program.kernel("step", now, kMs,
                   {.api_start = launched, .api_duration = 5 * kUs, .stack = launch_stack});
    const Interval pause{now + kMs, now + kMs + pause_ns};
    launched = fill(pause);
    now = pause.end;
  }
  program.kernel("step", now, kMs,
                 {.api_start = launched, .api_duration = 5 * kUs, .stack = launch_stack});
  return of_rule(program.insights(), "idle_gaps");
}

TEST(IdleGaps, HostCodeWithNoCall) {
  TestProgram program;
  const uint32_t line = program.line("/home/me/data.py", 12, "load");
  const auto found =
      pauses(program, 500 * kUs, [](Interval pause) { return pause.end - 10 * kUs; }, line);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "GPU 0 idle × 10: host code with no recorded API call @ data.py:12 · 5.000 ms (31.2% "
            "of session)");
  EXPECT_NEAR(*found[0].gain_ns, 10 * 499.0 * kUs, 1);
  EXPECT_EQ(found[0].severity, Severity::High);
  EXPECT_EQ(found[0].evidence.at(0).line, 12);
  EXPECT_EQ(found[0].evidence.at(0).kernel, "step");
}

// A kernel that has not ended has no row: next to it the GPU is not idle, whatever else it does.
TEST(IdleGaps, NotWhileAKernelRunsThatHasNoEnd) {
  const auto title_with = [](std::vector<PendingWork> pending) {
    TestProgram program;
    program.data.summary.pending = std::move(pending);
    const auto found =
        pauses(program, 500 * kUs, [](Interval pause) { return pause.end - 10 * kUs; });
    return found.empty() ? std::string() : found[0].title;
  };
  const auto since = [](int64_t time_ns, int64_t device, const char* kernel) {
    return std::vector<PendingWork>{{"cuLaunchKernel", time_ns, 1, device, 99, 0, kernel}};
  };
  EXPECT_EQ(title_with({}).find("GPU 0 idle × 10"), 0u);
  EXPECT_EQ(title_with(since(0, 0, "spin")), "");
  EXPECT_EQ(title_with(since(0, -1, "spin")), "") << "of an unknown GPU";
  EXPECT_EQ(title_with(since(0, 1, "spin")).find("GPU 0 idle × 10"), 0u) << "of another GPU";
  EXPECT_EQ(title_with(since(0, 0, "")).find("GPU 0 idle × 10"), 0u) << "a call without a kernel";
  // Pauses before it stay: they are as idle as before.
  EXPECT_EQ(title_with(since(8 * kMs, 0, "spin")).find("GPU 0 idle × 5"), 0u)
      << title_with(since(8 * kMs, 0, "spin"));
}

TEST(IdleGaps, OneFindingForOneCauseWithItsPlaces) {
  TestProgram program;
  const int64_t forward = program.scope("forward", 0, 3 * kMs);
  const int64_t backward = program.scope("backward", 3 * kMs, 30 * kMs);
  // A pause is of the scope whose work ends it: 1 ms of the one, 4 ms of the other.
  int64_t now = 0;
  for (const auto& [scope, pause] : {std::pair(forward, kMs), std::pair(forward, kMs),
                                     std::pair(backward, 3 * kMs), std::pair(backward, 0 * kMs)}) {
    program.kernel("step", now, kMs,
                   {.scope = scope, .api_start = now - 10 * kUs, .api_duration = 5 * kUs});
    now += kMs + pause;
  }
  const auto found = of_rule(program.insights(), "idle_gaps");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find(
                "idle × 3: host code with no recorded API call in backward and 1 other place · "
                "5.000"),
            std::string::npos)
      << found[0].title;
  ASSERT_EQ(found[0].evidence.size(), 2u);
  EXPECT_EQ(found[0].evidence[0].scope, "backward");
  EXPECT_EQ(found[0].evidence[0].text, "2 pauses, 4.000 ms: the longest");
  EXPECT_EQ(found[0].evidence[1].text, "1 pause, 1.000 ms: the longest");
}

TEST(IdleGaps, WaitingInASync) {
  TestProgram program;
  const uint32_t wait_line = program.line("/home/me/train.py", 5, "step");
  const auto found = pauses(program, 60 * kUs, [&](Interval pause) {
    program.wait(3, pause.start - 900 * kUs, 910 * kUs, {.stack = wait_line});
    return pause.end - 10 * kUs;
  });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("waiting in a sync @ train.py:5"), std::string::npos)
      << found[0].title;
}

TEST(IdleGaps, LongCodeAfterAWaitIsTheCodesOwn) {
  TestProgram program;
  const auto found = pauses(program, 500 * kUs, [&](Interval pause) {
    program.wait(3, pause.start - 900 * kUs, 910 * kUs);
    return pause.end - 10 * kUs;
  });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("host code"), std::string::npos) << found[0].title;
}

TEST(IdleGaps, InsideACopy) {
  TestProgram program;
  const uint32_t line = program.line("/home/me/data.py", 3, "to_device");
  const auto found = pauses(program, 200 * kUs, [&](Interval pause) {
    program.copy(1, 1 << 20, pause.end - 20 * kUs, 20 * kUs,
                 {.api_start = pause.start + 5 * kUs, .api_duration = 195 * kUs, .stack = line});
    return pause.end - 10 * kUs;
  });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("host inside a copy @ data.py:3"), std::string::npos)
      << found[0].title;
}

TEST(IdleGaps, InsideAnotherCall) {
  TestProgram program;
  const auto found = pauses(program, 500 * kUs, [&](Interval pause) {
    program.api_call("cudaMalloc", pause.start + 10 * kUs, 200 * kUs);
    program.api_call("cudaFree", pause.start + 220 * kUs, 60 * kUs);
    return pause.end - 10 * kUs;
  });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("host inside another API call"), std::string::npos)
      << found[0].title;
  TestProgram shorter;
  const auto mostly_code = pauses(shorter, 500 * kUs, [&](Interval pause) {
    shorter.api_call("cudaMalloc", pause.start + 10 * kUs, 200 * kUs);
    return pause.end - 10 * kUs;
  });
  ASSERT_EQ(mostly_code.size(), 1u);
  EXPECT_NE(mostly_code[0].title.find("host code"), std::string::npos) << mostly_code[0].title;
}

TEST(IdleGaps, CallsInsideOfCallsCountOnce) {
  TestProgram program;
  const auto found = pauses(program, 500 * kUs, [&](Interval pause) {
    program.api_call("cudaMalloc", pause.start + 10 * kUs, 200 * kUs);
    program.api_call("cuMemAlloc", pause.start + 20 * kUs, 180 * kUs);
    return pause.end - 10 * kUs;
  });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("host code"), std::string::npos) << found[0].title;
}

TEST(IdleGaps, ALongCallAfterAWaitIsTheCalls) {
  TestProgram program;
  const auto found = pauses(program, 500 * kUs, [&](Interval pause) {
    program.wait(3, pause.start - 900 * kUs, 910 * kUs);
    program.api_call("cudaMalloc", pause.start + 20 * kUs, 400 * kUs);
    return pause.end - 10 * kUs;
  });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("host inside another API call"), std::string::npos)
      << found[0].title;
}

TEST(IdleGaps, LaunchBoundHost) {
  TestProgram program;
  const auto found =
      pauses(program, 30 * kUs, [](Interval pause) { return pause.start + 5 * kUs; });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("launch-bound host"), std::string::npos) << found[0].title;
}

TEST(IdleGaps, QueuedWork) {
  TestProgram program;
  const auto found =
      pauses(program, 100 * kUs, [](Interval pause) { return pause.start - 500 * kUs; });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("queued work"), std::string::npos) << found[0].title;
}

TEST(IdleGaps, WithoutCallTimesTheCauseIsUnknown) {
  TestProgram program;
  const auto found = pauses(program, 100 * kUs, [](Interval) { return kNoTime; });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("unknown cause"), std::string::npos) << found[0].title;
  EXPECT_EQ(found[0].confidence, Confidence::Low);
}

TEST(IdleGaps, NotBelowOnePercentNorForShortPauses) {
  const auto late = [](Interval pause) { return pause.end - 5 * kUs; };
  TestProgram below;
  EXPECT_TRUE(pauses(below, 9'900, late).empty());  // under 10 us
  TestProgram few;
  few.data.summary.duration_ns = 100 * 1'000 * kUs + 1;  // ten pauses of 100 us are less than 1%
  EXPECT_TRUE(pauses(few, 100 * kUs, late).empty());
  TestProgram enough;
  enough.data.summary.duration_ns = 100 * 1'000 * kUs;
  EXPECT_EQ(pauses(enough, 100 * kUs, late).size(), 1u);
}

TEST(IdleGaps, WhatALoopsSyncLeavesIsToldOnce) {
  TestProgram program;
  const uint32_t line = program.line("/home/me/train.py", 5, "step");
  int64_t now = 0;
  for (int turn = 0; turn < 10; ++turn) {
    for (int i = 0; i < 4; ++i) {
      program.kernel("k", now + 10 * kUs + i * 50 * kUs, 50 * kUs,
                     {.api_start = now + i * 2 * kUs, .api_duration = 2 * kUs});
    }
    program.wait(3, now + 10 * kUs, 205 * kUs, {.stack = line});
    now += 240 * kUs;
  }
  const auto insights = program.insights();
  EXPECT_EQ(of_rule(insights, "in_loop_sync").size(), 1u);
  EXPECT_TRUE(of_rule(insights, "idle_gaps").empty());
}

// Kernels of 1 ms at these times, of `scope` each.
SessionData two_scopes() {
  TestProgram program;
  const int64_t mine = program.scope("mine", 0, 100 * kMs);
  const int64_t other = program.scope("other", 0, 100 * kMs, {.thread = 2});
  for (int i = 0; i < 10; ++i) {
    const int64_t now = i * 10 * kMs;
    program.kernel("mine", now, kMs, {.scope = mine, .api_start = now - 10 * kUs});
    program.kernel("other", now + kMs, 8 * kMs, {.scope = other, .api_start = now - 5 * kUs});
  }
  return program.finish();
}

TEST(IdleGaps, TimeThatWasNotRecordedIsNoPause) {
  TestProgram program;
  const auto event = [&](const char* name, int64_t time) {
    base::Json json = base::Json::object();
    json.set("name", name).set("time", time);
    program.data.summary.events.push_back(std::move(json));
  };
  event("recording_paused", 3 * kMs);
  event("recording_resumed", 9990 * kMs);
  program.kernel("step", 0, kMs, {.api_start = -10 * kUs});
  program.kernel("step", 2 * kMs, kMs, {.api_start = 2 * kMs - 10 * kUs});
  program.kernel("step", 9991 * kMs, 9 * kMs, {.api_start = 9991 * kMs - 10 * kUs});
  const auto found = of_rule(program.insights(), "idle_gaps");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(*found[0].gain_ns, 999.0 * kUs, 1);
  EXPECT_NEAR(found[0].gain_share, 999.0 / 13'000, 1e-9);  // of the 13 ms that were recorded
  EXPECT_NE(found[0].title.find("(7.7% of what was recorded)"), std::string::npos)
      << found[0].title;
  EXPECT_EQ(found[0].gain_of, "what was recorded");
}

TEST(IdleGaps, WorkOfOtherScopesIsNoPauseOfAScope) {
  const SessionData session = two_scopes();
  AnalysisOptions options;
  options.scope = "mine";
  const Overview overview = analyze(session, options);
  const IdleTime& idle = overview.devices.at(0).idle;
  EXPECT_EQ(idle.total_ns, 9 * kMs);
  for (const Insight& insight : find_insights(session, overview)) {
    EXPECT_LE(insight.gain_ns.value_or(0), static_cast<double>(idle.total_ns)) << insight.title;
  }
}

}  // namespace
}  // namespace gpufl::analysis::testing
