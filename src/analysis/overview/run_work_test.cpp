// SPDX-License-Identifier: Apache-2.0
#include "analysis/overview/run_work.hpp"

#include <gtest/gtest.h>

#include "analysis/insights/run_insights.hpp"
#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

// Two ranks; the second does everything twice as long, and waits besides.
RunData two_ranks() {
  RunData run;
  for (int64_t rank = 0; rank < 2; ++rank) {
    TestSession session;
    session.data.summary.header.rank = rank;
    session.data.summary.duration_ns = 10'000;
    const int64_t step = session.scope("step", 0, 1000 * (rank + 1));
    session.kernel("gemm", 0, 300 * (rank + 1), {.scope = step});
    session.copy(1, 4096, 1000, 100 * (rank + 1));
    if (rank == 1) session.wait(1, 2000, 50);
    run.sessions.push_back(session.finish());
    run.offset_ns.push_back(rank * 7);
  }
  return run;
}

TEST(RunWork, GathersAllRanks) {
  const RunOverview overview = analyze_run(two_ranks());
  const auto kernels = run_kernels(overview);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].total_ns, 900);
  EXPECT_EQ(kernels[0].min_rank_ns, 300);
  EXPECT_EQ(kernels[0].max_rank_ns, 600);
  EXPECT_EQ(kernels[0].share, 1);
  const auto scopes = run_scopes(overview);
  ASSERT_EQ(scopes.size(), 1u);
  EXPECT_EQ(scopes[0].label, "step");
  EXPECT_EQ(scopes[0].count, 2u);
  EXPECT_EQ(scopes[0].total_ns, 3000);
  EXPECT_EQ(scopes[0].gpu_ns, 900);
  const auto copies = run_copies(overview);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].label, "host to device");
  EXPECT_EQ(copies[0].bytes, 8192);
  EXPECT_EQ(copies[0].sized, 2u);
  const auto waits = run_waits(overview);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].total_ns, 50);
  EXPECT_EQ(waits[0].min_rank_ns, 0);  // the first rank never waited
  EXPECT_EQ(waits[0].max_rank_ns, 50);
}

TEST(RunWork, ScopesThatARankLostMakeAllLowerBounds) {
  RunData run = two_ranks();
  EXPECT_FALSE(run_scopes(analyze_run(run))[0].is_lower_bound);
  run.sessions[1].summary.ledger.emplace().scopes_dropped = 1;
  EXPECT_TRUE(run_scopes(analyze_run(run))[0].is_lower_bound);
}

Insight insight_of(std::string rule, std::string file, double gain_ns) {
  Insight insight;
  insight.rule = std::move(rule);
  insight.title = "title";
  insight.detail = "detail";
  insight.gain_ns = gain_ns;
  Evidence evidence;
  evidence.file = std::move(file);
  evidence.start_ns = 100;
  insight.evidence.push_back(std::move(evidence));
  return insight;
}

TEST(RunInsights, WhatSeveralRanksShowIsToldOnce) {
  const RunData run = two_ranks();
  const RunOverview overview = analyze_run(run);
  const std::vector<Insight> of_run = {insight_of("uneven", "", 5)};
  const std::vector<std::vector<Insight>> of_sessions = {
      {insight_of("sync", "a.py", 10), insight_of("sync", "b.py", 3)},
      {insight_of("sync", "a.py", 30)}};
  const auto merged = merge_insights(run, overview, of_run, of_sessions);
  ASSERT_EQ(merged.size(), 3u);
  EXPECT_EQ(merged[0].title, "title [all 2]");
  EXPECT_EQ(merged[0].gain_ns, 30);
  EXPECT_EQ(merged[0].detail, "rank 1: detail");
  EXPECT_EQ(merged[0].evidence[0].start_ns, 107);  // of the rank that shows it most
  EXPECT_EQ(merged[1].rule, "uneven");
  EXPECT_EQ(merged[1].title, "title");
  EXPECT_EQ(merged[2].title, "title [rank 0]");
  EXPECT_EQ(merged[2].detail, "detail");
}

TEST(RunInsights, TwoOfOneKindInASessionStayTwo) {
  const RunData run = two_ranks();
  const std::vector<std::vector<Insight>> of_sessions = {
      {insight_of("sync", "a.py", 10), insight_of("sync", "a.py", 3)}, {}};
  EXPECT_EQ(merge_insights(run, analyze_run(run), {}, of_sessions).size(), 2u);
}

}  // namespace
}  // namespace gpufl::analysis
