// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/coverage.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "analysis/figures/busy.hpp"
#include "analysis/figures/phases.hpp"
#include "analysis/figures/recorded_time.hpp"
#include "analysis/overview/overview.hpp"
#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

// A thousand of 10,000 ns, four times, each in the middle of a quarter; "gemm" takes 100, 120, 100,
// 80 of each, "relu" 100.
TestSession four_phases() {
  TestSession session;
  session.data.summary.duration_ns = 10'000;
  session.data.summary.ended = true;
  session.data.summary.header.overhead_budget_ppm = 20'000;
  const int64_t gemm_ns[] = {100, 120, 100, 80};
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t start = 750 + i * 2'500;
    session.coverage("Trace", start, 1'000, {.cost_ns = 10, .measure = format::CostMeasure::Calls});
    session.kernel("gemm", start + 100, gemm_ns[i]);
    session.kernel("relu", start + 500, 100);
  }
  return session;
}

TEST(CoverageTest, OfABudgetedSession) {
  const SessionData session = four_phases().finish();
  const Coverage found = coverage(session, {});
  EXPECT_TRUE(found.is_budgeted);
  EXPECT_EQ(found.budget_ppm, 20'000);
  EXPECT_EQ(found.phases, 4u);
  EXPECT_EQ(found.covered_ns, 4'000);
  EXPECT_DOUBLE_EQ(found.share(), 0.4);
  EXPECT_FALSE(found.is_last_inferred);
  const EngineCoverage all = sum_of(session.summary.coverage);
  EXPECT_EQ(all.cost().total_ns(), 40);
  EXPECT_EQ(all.cost().measure(), "calls");
}

TEST(CoverageTest, WhileCountersStoodInThePlaceOfRecordsNothingWasRecorded) {
  TestSession session;
  session.data.summary.duration_ns = 10'000;
  session.data.summary.ended = true;
  session.coverage("Trace", 0, 3'000);
  session.coverage("SassMetrics", 3'000, 2'000);
  session.coverage("Trace", 5'000, 5'000);
  const SessionData data = session.finish();
  EXPECT_EQ(recorded_spans(data, {}), (Intervals{{0, 3'000}, {5'000, 10'000}}));
}

TEST(CoverageTest, PhasesOfAllEnginesRecordWork) {
  TestSession session;
  session.data.summary.duration_ns = 10'000;
  session.data.summary.ended = true;
  session.coverage("Trace", 1'000, 1'000);
  session.coverage("PcSampling", 4'000, 2'000);
  session.coverage("PcSampling", 4'500, 100, {.shape = format::CoverageShape::Window});
  const SessionData data = session.finish();
  EXPECT_EQ(recorded_spans(data, {}), (Intervals{{1'000, 2'000}, {4'000, 6'000}}));
  EXPECT_EQ(engine_phases(data, "PcSampling"), (Intervals{{4'000, 6'000}}));
  EXPECT_EQ(sum_of(data.summary.coverage).phases, 2u);
}

TEST(CoverageTest, WhatIsDetachedIsNotIdle) {
  const auto devices = busy_times(four_phases().finish(), {});
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].recorded_ns, 4'000);
  EXPECT_DOUBLE_EQ(devices[0].busy_share, 800.0 / 4'000);
  // Between gemm and relu only, of each phase.
  EXPECT_EQ(devices[0].idle.total_ns + devices[0].idle.short_ns, 300 + 280 + 300 + 320);
}

TEST(CoverageTest, SharesAndTimesOfTheWholeRun) {
  const auto found = kernel_estimates(four_phases().finish(), {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2u);
  const KernelEstimate& gemm = found->begin()->second;
  EXPECT_DOUBLE_EQ(gemm.share.value, 0.5);
  EXPECT_EQ(gemm.share.pieces, 4u);
  // Residuals 0, 10, 0, -10 of 800; two fifths were seen. Pauses add a little.
  const double reach = 3.182446 * std::sqrt(4.0 / 3 * 200 * 0.6) / 800;
  EXPECT_GT(gemm.share.high - 0.5, reach);
  EXPECT_LT(gemm.share.high - 0.5, reach + 0.01);
  EXPECT_DOUBLE_EQ(gemm.total_ns.value, 1'000);
  const double total_reach = 3.182446 * std::sqrt(4.0 / 3 * 800 * 0.6) / 4'000 * 10'000;
  EXPECT_GT(gemm.total_ns.high - 1'000, total_reach);
  EXPECT_LT(gemm.total_ns.high - 1'000, total_reach + 40);
}

// Cheap parts of a program are recorded more than dear ones: that gives them no more weight.
TEST(CoverageTest, APhaseCountsAsMuchAsTheTimeThatItStandsFor) {
  TestSession session;
  session.data.summary.duration_ns = 10'000;
  session.data.summary.ended = true;
  session.data.summary.header.overhead_budget_ppm = 20'000;
  for (const int64_t start : {950, 2'950, 4'950}) {  // of each 2,000
    session.coverage("Trace", start, 100);
    session.kernel("dear", start, 100);
  }
  for (const int64_t start : {6'500, 8'500}) {
    session.coverage("Trace", start, 1'000);
    session.kernel("cheap", start, 1'000);
  }
  const auto found = kernel_estimates(session.finish(), {});
  ASSERT_TRUE(found);
  const KernelEstimate& dear = found->begin()->second;
  // Of the pause between the last dear phase and the first cheap one, half is of either.
  EXPECT_DOUBLE_EQ(dear.share.value, 0.5775);
  EXPECT_LT(dear.share.low, 0.5);
  EXPECT_GT(dear.share.high, 0.6);
  EXPECT_DOUBLE_EQ(dear.total_ns.value, 5'775);
}

TEST(CoverageTest, WhatADeepScopeAskedForIsNoSampleOfTheRun) {
  TestSession session = four_phases();
  session.coverage("Trace", 9'600, 300, {.why = format::CoverageReason::DeepScope});
  session.kernel("checkpoint", 9'650, 200);
  const auto found = kernel_estimates(session.finish(), {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2u);  // gemm and relu
  EXPECT_DOUBLE_EQ(found->begin()->second.share.value, 0.5);
}

TEST(CoverageTest, NoEstimatesOfTwoPhasesNorWithoutBudget) {
  TestSession two;
  two.data.summary.duration_ns = 10'000;
  two.data.summary.ended = true;
  for (const int64_t start : {1'000, 5'000}) {
    two.coverage("Trace", start, 1'000);
    two.kernel("gemm", start, 100);
  }
  const auto few = kernel_estimates(two.finish(), {});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.unknown().reason, "at least 3 phases with kernels are needed");
  TestSession all;
  all.kernel("gemm", 0, 100);
  EXPECT_FALSE(kernel_estimates(all.finish(), {}));
}

TEST(CoverageTest, PhasesThatSomebodyAskedForAreNoBudget) {
  TestSession session;
  session.data.summary.duration_ns = 10'000;
  session.data.summary.ended = true;
  session.coverage(
      "Trace", 2'000, 1'000,
      {.why = format::CoverageReason::Request, .ending = format::CoverageEnd::Request});
  session.coverage(
      "Trace", 6'000, 2'000,
      {.why = format::CoverageReason::Request, .ending = format::CoverageEnd::Session});
  const SessionData data = session.finish();
  EXPECT_FALSE(coverage(data, {}).is_budgeted);
  EXPECT_EQ(recorded_spans(data, {}), (Intervals{{2'000, 3'000}, {6'000, 8'000}}));
}

TEST(CoverageTest, OneThatCouldNotDetachIsWhole) {
  TestSession session;
  session.data.summary.header.overhead_budget_ppm = 20'000;
  session.coverage("Trace", 0, 1'000,
                   {.why = format::CoverageReason::Budget, .ending = format::CoverageEnd::Session});
  session.kernel("gemm", 0, 1'000);
  EXPECT_FALSE(coverage(session.finish(), {}).is_budgeted);
}

TEST(CoverageTest, StepsOutsideOfPhasesTakeNothingOfTheRecordedTime) {
  TestSession session;
  session.data.summary.duration_ns = 10'000;
  session.data.summary.ended = true;
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t step = session.scope("step", i * 1'000, 900, {.repeat = 2});
    if (i >= 2 && i < 6) session.kernel("gemm", i * 1'000 + 100, 500, {.scope = step});
  }
  session.coverage("Trace", 2'000, 4'000);
  const SessionData data = session.finish();
  const Overview overview = analyze(data);
  ASSERT_TRUE(overview.iterations);
  EXPECT_EQ(overview.iterations->list.size(), 4u);
  EXPECT_DOUBLE_EQ(overview.iterations->coverage, 0.9);
  ASSERT_EQ(overview.scopes.size(), 1u);
  EXPECT_FALSE(overview.scopes[0].iteration_gpu_ns);
}

TEST(CoverageTest, TurnsOfSamplesAreNoBudget) {
  TestSession session;
  session.data.summary.duration_ns = 61'000;
  session.data.summary.ended = true;
  session.coverage(
      "PcSampling", 0, 60'000,
      {.why = format::CoverageReason::Session, .ending = format::CoverageEnd::Schedule});
  session.coverage(
      "Trace", 60'040, 960,
      {.why = format::CoverageReason::Schedule, .ending = format::CoverageEnd::Session});
  session.kernel("gemm", 100, 500);
  const SessionData data = session.finish();
  const Coverage found = coverage(data, {});
  EXPECT_FALSE(found.is_budgeted);
  EXPECT_EQ(found.phases, 2u);
  EXPECT_EQ(recorded_spans(data, {}), (Intervals{{0, 60'000}, {60'040, 61'000}}));
  EXPECT_EQ(kernel_estimates(data, {}).unknown().reason, "it was not recorded within a budget");
}

TEST(CoverageTest, APhaseThatADeepScopeMadeLongerIsNoSampleOfTheRun) {
  TestSession session = four_phases();
  session.coverage(
      "Trace", 9'600, 300,
      {.why = format::CoverageReason::Budget, .ending = format::CoverageEnd::DeepScope});
  session.kernel("checkpoint", 9'650, 200);
  const auto found = kernel_estimates(session.finish(), {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2u);  // gemm and relu
  EXPECT_DOUBLE_EQ(found->begin()->second.share.value, 0.5);
}

// The last event is `change`, and then comes a kernel.
SessionData broken_off(const RecordingChange& change) {
  TestSession session = four_phases();
  session.data.summary.ended = false;
  session.data.summary.last_change = change;
  session.kernel("checkpoint", 9'700, 200);
  return session.finish();
}

TEST(PhasesTest, TheLastOfALogWithoutEndIsInferredFromTheEvent) {
  const SessionData data = broken_off({true, 9'600, "budget"});
  const auto phases = traced_phases(data);
  ASSERT_TRUE(phases);
  EXPECT_TRUE(phases->is_last_inferred);
  ASSERT_EQ(phases->spans.size(), 5u);
  EXPECT_EQ(phases->spans.back(), (Interval{9'600, 10'000}));
  const Coverage found = coverage(data, {});
  EXPECT_TRUE(found.is_last_inferred);
  EXPECT_EQ(found.phases, data.summary.all_coverage().phases);
  EXPECT_EQ(found.covered_ns, data.summary.all_coverage().phase_ns);
  EXPECT_EQ(kernel_estimates(data, {})->size(), 3u);
}

TEST(PhasesTest, WhatIsInferredOfADeepScopeIsNoSampleOfTheRunEither) {
  for (const char* const why : {"deep scope", "deep window", "request"}) {
    const SessionData data = broken_off({true, 9'600, why});
    EXPECT_TRUE(coverage(data, {}).is_last_inferred);
    EXPECT_EQ(kernel_estimates(data, {})->size(), 2u) << why;
  }
}

TEST(PhasesTest, WorkAfterTheLastPhaseIsNoPhase) {
  const SessionData data = broken_off({false, 9'690, "budget"});
  const auto phases = traced_phases(data);
  ASSERT_TRUE(phases);
  EXPECT_EQ(phases->spans.size(), 4u);
  EXPECT_FALSE(phases->is_last_inferred);
  EXPECT_EQ(coverage(data, {}).covered_ns, 4'000);
}

TEST(PhasesTest, NothingIsKnownOfASessionThatWasNeverAttached) {
  TestSession dormant;
  dormant.data.summary.duration_ns = 500;
  dormant.data.summary.header.overhead_budget_ppm = 20'000;
  EXPECT_EQ(coverage(dormant.finish(), {}).covered_ns, 0);
  TestSession none;
  none.kernel("gemm", 0, 10);
  EXPECT_FALSE(traced_phases(none.finish()));
}

}  // namespace
}  // namespace gpufl::analysis
