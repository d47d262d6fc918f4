// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/stalls.hpp"

#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "analysis/figures/missing.hpp"
#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

const std::string kLong = "smsp__pcsamp_warps_issue_stalled_long_scoreboard";
const std::string kWait = "smsp__pcsamp_warps_issue_stalled_wait";

void window(TestSession& session, int64_t start, int64_t samples) {
  session.coverage("PcSampling", start, 100,
                   {.shape = format::CoverageShape::Window, .samples = samples});
}

// Four windows: of gemm 60, 50, 60, 70 of 100 samples each, half of which wait for memory.
TestSession four_windows() {
  TestSession session;
  const int64_t gemm[] = {60, 50, 60, 70};
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t start = i * 1'000;
    window(session, start, 100);
    // The last come after the window, and are of it all the same.
    session.pc_sample("gemm", 16, kLong, gemm[i] / 2, {.time = start + 50});
    session.pc_sample("gemm", 16, kLong + "_not_issued", 10, {.time = start + 50});
    session.pc_sample("gemm", 32, kWait, gemm[i] / 2, {.time = start + 150});
    session.pc_sample("relu", 16, kWait, 100 - gemm[i], {.time = start + 150});
  }
  return session;
}

TEST(StallFiguresTest, SharesWithTheirErrors) {
  const auto found = stall_figures(four_windows().finish(), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->samples, 400u);
  EXPECT_EQ(found->windows, 4u);
  ASSERT_EQ(found->functions.size(), 2u);
  const SampledFunction& gemm = found->functions[0];
  EXPECT_EQ(gemm.label, "gemm");
  EXPECT_EQ(gemm.samples, 240u);
  ASSERT_TRUE(gemm.share);
  EXPECT_DOUBLE_EQ(gemm.share->value, 0.6);
  EXPECT_EQ(gemm.share->pieces, 4u);
  // Residuals 0, -10, 0, 10 of 400.
  EXPECT_NEAR(gemm.share->high, 0.6 + 3.182446 * std::sqrt(4.0 / 3 * 200) / 400, 1e-6);
  ASSERT_EQ(gemm.stalls.size(), 2u);
  EXPECT_EQ(gemm.stalls[0].count.samples, 120u);
  EXPECT_EQ(gemm.stalls[0].count.not_issued, 40u);
  // Half in every window: what is left is the error of 240 samples.
  EXPECT_DOUBLE_EQ(gemm.stalls[0].share.value, 0.5);
  EXPECT_NEAR(gemm.stalls[0].share.high, binomial_estimate(0.5, 240).high, 1e-12);
  ASSERT_EQ(gemm.hottest.size(), 2u);
  EXPECT_EQ(gemm.hottest[0].samples, 120u);
  EXPECT_EQ(gemm.hottest[0].pc, 16);
  EXPECT_EQ(gemm.hottest[0].reason, "long_scoreboard");
}

TEST(StallFiguresTest, WindowsOfADeepScopeAreNoSampleOfTheRun) {
  TestSession session = four_windows();
  for (int64_t i = 4; i < 50; ++i) {
    session.coverage("PcSampling", i * 1'000, 100,
                     {.shape = format::CoverageShape::Window,
                      .why = format::CoverageReason::DeepScope,
                      .samples = 100});
    session.pc_sample("checkpoint", 16, kWait, 100, {.time = i * 1'000 + 50});
  }
  const auto found = stall_figures(session.finish(), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->windows, 4u);
  for (const SampledFunction& function : found->functions) {
    if (function.label == "checkpoint") {
      // It was in none of the schedule's windows: they are too few to say how little of it ran.
      ASSERT_FALSE(function.share);
      EXPECT_EQ(function.share.unknown().reason,
                "it was sampled only while a deep scope or window was open");
      continue;
    }
    ASSERT_TRUE(function.share) << function.label;
    EXPECT_DOUBLE_EQ(function.share->value, function.label == "gemm" ? 0.6 : 0.4);
  }
}

void deep_window(TestSession& session, int64_t start) {
  session.coverage(
      "PcSampling", start, 100,
      {.shape = format::CoverageShape::Window, .why = format::CoverageReason::DeepScope});
}

// "gemm" runs in "step", which is sampled by the schedule, and in two deep scopes.
TestSession two_deep_scopes() {
  TestSession session;
  session.data.summary.duration_ns = 10'000;
  session.data.summary.ended = true;
  const int64_t step = session.scope("step", 0, 2'000);
  const int64_t checkpoint = session.scope("checkpoint", 2'000, 1'000);
  const int64_t evaluation = session.scope("evaluation", 6'000, 1'000);
  session.coverage("PcSampling", 0, 3'000);
  session.coverage("PcSampling", 5'900, 1'100, {.why = format::CoverageReason::DeepScope});
  window(session, 500, 10);
  for (const int64_t start : {2'050, 2'200, 6'050}) deep_window(session, start);
  session.kernel("gemm", 100, 1'000, {.scope = step});
  session.kernel("gemm", 2'040, 60, {.scope = step});  // still runs in a deep window, for 50
  session.kernel("gemm", 2'100, 1'000, {.scope = checkpoint});
  session.kernel("gemm", 6'050, 100, {.scope = evaluation});
  return session;
}

TEST(StallFiguresTest, SamplesOfADeepScopeAreOfWhatRanInItsWindows) {
  TestSession session = two_deep_scopes();
  session.pc_sample("gemm", 0, kLong, 8, {.time = 600});
  session.pc_sample("gemm", 0, kLong, 100, {.time = 2'150});
  session.pc_sample("gemm", 0, kLong, 100, {.time = 2'300});
  session.pc_sample("gemm", 0, kLong, 30, {.time = 6'150});
  session.pc_sample("unseen", 0, kLong, 3, {.time = 6'150});
  const auto found = stall_figures(session.finish(), {});
  std::map<std::string, double> samples;
  for (const ScopeSamples& scope : found->scopes) samples[scope.path] = scope.estimated;
  // Of 200 ns in the first two, 50 are the step's; all of its own window's are.
  EXPECT_DOUBLE_EQ(samples["step"], 8 + 50);
  EXPECT_DOUBLE_EQ(samples["checkpoint"], 150);
  EXPECT_DOUBLE_EQ(samples["evaluation"], 30);
  EXPECT_EQ(found->without_scope, 3u);
}

TEST(StallFiguresTest, WhatRanInADeepScopeDividesNoSamplesOfTheSchedule) {
  TestSession session = two_deep_scopes();
  session.pc_sample("gemm", 0, kLong, 8, {.time = 600});
  const auto found = stall_figures(session.finish(), {});
  ASSERT_EQ(found->scopes.size(), 1u);
  EXPECT_EQ(found->scopes[0].path, "step");
}

TEST(StallFiguresTest, ADeepScopeOfOneDeviceIsNoneOfAnother) {
  TestSession session;
  session.data.summary.duration_ns = 10'000;
  session.data.summary.ended = true;
  for (const int64_t start : {0, 1'000, 2'000}) {
    session.coverage("PcSampling", start, 100,
                     {.shape = format::CoverageShape::Window, .device = 0});
    session.coverage("PcSampling", start, 100,
                     {.shape = format::CoverageShape::Window,
                      .why = format::CoverageReason::DeepScope,
                      .device = 1});
    session.pc_sample("gemm", 0, kLong, 10, {.time = start + 50});
    session.pc_sample("relu", 0, kLong, 10, {.time = start + 50, .device = 1});
  }
  const auto found = stall_figures(session.finish(), {});
  EXPECT_EQ(found->windows, 3u);
  EXPECT_TRUE(found->functions[0].share);
  EXPECT_FALSE(found->functions[1].share);
}

TEST(StallFiguresTest, WindowsThatDifferWidenTheError) {
  TestSession session;
  for (int64_t i = 0; i < 4; ++i) {
    window(session, i * 1'000, 100);
    session.pc_sample("gemm", 0, i < 2 ? kLong : kWait, 100, {.time = i * 1'000 + 100});
  }
  const auto found = stall_figures(session.finish(), {});
  const Estimate& share = found->functions[0].stalls[0].share;
  EXPECT_DOUBLE_EQ(share.value, 0.5);
  EXPECT_LT(share.low, binomial_estimate(0.5, 400).low - 0.1);
  EXPECT_EQ(share.pieces, 4u);
}

TEST(StallFiguresTest, OfTwoWindowsTheShareOfTheRunIsUnknown) {
  TestSession session;
  for (const int64_t start : {0, 1'000}) {
    window(session, start, 10);
    session.pc_sample("gemm", 0, kLong, 10, {.time = start + 100});
  }
  const auto found = stall_figures(session.finish(), {});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->functions[0].share);
  EXPECT_DOUBLE_EQ(found->functions[0].stalls[0].share.value, 1);
  EXPECT_EQ(found->functions[0].stalls[0].share.pieces, 2u);
}

TEST(StallFiguresTest, EachDeviceHasItsOwn) {
  TestSession session;
  session.pc_sample("gemm", 0, kLong, 10);
  session.pc_sample("gemm", 0, kLong, 5, {.device = 1});
  const auto found = stall_figures(session.finish(), {});
  EXPECT_EQ(found->functions[0].by_device, (std::map<int64_t, uint64_t>{{0, 10}, {1, 5}}));
  EXPECT_EQ(found->windows, 2u);
}

TEST(StallFiguresTest, ScopesGetTheirShareOfTheTracedTime) {
  TestSession session;
  session.data.summary.duration_ns = 10'000;
  session.data.summary.ended = true;
  const int64_t forward = session.scope("forward", 0, 4'000);
  const int64_t backward = session.scope("backward", 4'000, 6'000);
  session.kernel("gemm", 100, 300, {.scope = forward});
  session.kernel("gemm", 4'100, 100, {.scope = backward});
  session.kernel("gemm", 9'000, 900, {.scope = backward});  // when nothing was sampled
  session.coverage("PcSampling", 0, 5'000);
  session.pc_sample("gemm", 0, kLong, 80);
  session.pc_sample("gemm", 0, kWait, 40);
  session.pc_sample("gemm", 0, kWait, 7, {.scope = backward});
  session.pc_sample("unseen", 0, kWait, 3);
  const auto found = stall_figures(session.finish(), {});
  ASSERT_EQ(found->scopes.size(), 2u);
  EXPECT_EQ(found->scopes[0].path, "forward");
  EXPECT_DOUBLE_EQ(found->scopes[0].estimated, 90);
  EXPECT_DOUBLE_EQ(found->scopes[0].exact, 0);
  EXPECT_DOUBLE_EQ(found->scopes[0].stalls.at("long_scoreboard"), 60);
  EXPECT_EQ(found->scopes[1].path, "backward");
  EXPECT_DOUBLE_EQ(found->scopes[1].estimated, 30);
  EXPECT_DOUBLE_EQ(found->scopes[1].exact, 7);
  EXPECT_DOUBLE_EQ(found->scopes[1].stalls.at("wait"), 17);
  EXPECT_EQ(found->without_scope, 3u);
}

TEST(StallFiguresTest, WhyThereAreNone) {
  TestSession session;
  session.data.summary.header.engine = "Trace";
  auto found = stall_figures(session.finish(), {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.unknown().reason, "the engine Trace records no stalls");
  EXPECT_FALSE(wants_samples(SessionSummary{}));

  TestSession refused;
  Capability capability;
  capability.feature = "profiling_engine";
  capability.asked = "PcSampling";
  capability.got = "Trace";
  capability.reason = "no_permission";
  capability.hint = "set NVreg_RestrictProfilingToAdminUsers=0";
  refused.data.summary.capabilities.push_back(capability);
  const SessionData data = refused.finish();
  EXPECT_TRUE(wants_samples(data.summary));
  found = stall_figures(data, {});
  EXPECT_EQ(found.unknown().remedy, capability.hint);
  EXPECT_NE(found.unknown().reason.find("no_permission"), std::string::npos);

  TestSession full;
  full.data.summary.header.engine = "PcSampling";
  full.data.summary.ledger.emplace().sampling_buffers_full = 2;
  found = stall_figures(full.finish(), {});
  EXPECT_NE(found.unknown().reason.find("2 windows had no samples"), std::string::npos);
}

}  // namespace
}  // namespace gpufl::analysis
