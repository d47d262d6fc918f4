// SPDX-License-Identifier: Apache-2.0
#include "analysis/overview/overview.hpp"
#include "analysis/figures/missing.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/overview/run_overview.hpp"
#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

TEST(Overview, OfAnEmptySession) {
  const Overview overview = analyze(TestSession().finish());
  EXPECT_TRUE(overview.devices.empty());
  ASSERT_TRUE(overview.kernels);
  EXPECT_EQ(overview.kernels->count, 0u);
  EXPECT_FALSE(overview.iterations);
  EXPECT_FALSE(overview.energy_joules);
  EXPECT_EQ(overview.device(0), nullptr);
}

TEST(Overview, OfOneKernel) {
  TestSession session;
  session.data.summary.duration_ns = 100;
  session.data.summary.ended = true;
  session.kernel("gemm", 10, 50);
  const Overview overview = analyze(session.finish());
  EXPECT_EQ(overview.recorded_ns, 100);
  EXPECT_EQ(overview.kernels->total_ns, 50);
  ASSERT_NE(overview.device(0), nullptr);
  EXPECT_DOUBLE_EQ(overview.device(0)->busy_share, 0.5);
  EXPECT_TRUE(overview.caveats.empty());
}

TEST(Overview, WithoutCountersItSaysWhyThereIsNoRoofline) {
  TestSession session;
  session.data.summary.header.engine = "Trace";
  const Overview overview = analyze(session.finish());
  ASSERT_FALSE(overview.roofline);
  EXPECT_EQ(overview.roofline.unknown().reason,
            "the engine Trace records no counts of operations and bytes");
  EXPECT_NE(overview.roofline.unknown().remedy.find("RangeProfiler"), std::string::npos);
}

TEST(Overview, ASummaryHasNoMoreThanItSays) {
  TestSession session;
  session.scope("s", 0, 10);
  session.kernel("gemm", 10, 50);
  AnalysisOptions options;
  options.depth = Depth::Summary;
  const Overview overview = analyze(session.finish(), options);
  EXPECT_EQ(overview.kernels->by_name.size(), 1u);
  EXPECT_TRUE(overview.kernels->by_class.empty());
  EXPECT_TRUE(overview.scopes.empty());
}

TEST(Overview, OfTheEngineMonitor) {
  TestSession session;
  session.data.summary.header.engine = "Monitor";
  session.metric("power_mw", 0, 0, 100);
  const Overview overview = analyze(session.finish());
  EXPECT_FALSE(overview.kernels);
  EXPECT_FALSE(overview.api);
  EXPECT_FALSE(overview.waits);
  EXPECT_FALSE(overview.transfers.copies);
  EXPECT_FALSE(overview.communication);
  EXPECT_FALSE(overview.memory);
  EXPECT_FALSE(overview.latency.launch_ns);
  EXPECT_EQ(overview.metrics.size(), 1u);
}

TEST(Overview, OfASessionThatCouldNotTrace) {
  TestSession session;
  session.data.summary.header.engine = "Trace";
  session.data.summary.ledger.emplace().kernel_records = 0;
  EXPECT_TRUE(analyze(session.data).kernels);  // nothing ran
  base::Json event = base::Json::object();
  event.set("name", "trace_unavailable").set("text", "no permission").set("hint", "ask the admin");
  session.data.summary.events.push_back(event);
  const Overview overview = analyze(session.data);
  ASSERT_FALSE(overview.kernels);
  EXPECT_EQ(overview.kernels.unknown(),
            (Unknown{"no GPU work was recorded: no permission", "ask the admin"}));
  session.kernel("gemm", 0, 1);  // some was recorded before it went wrong
  EXPECT_TRUE(analyze(session.finish()).kernels);
}

TEST(Overview, OfATraceThatTellsOfTheCpuAlone) {
  TestSession session;
  session.data.summary.header.engine = "Trace";
  session.data.summary.ledger.emplace().kernel_records = 0;
  auto& capabilities = session.data.summary.capabilities;
  capabilities.push_back({"recording", "gpufl", "torch_profiler", "imported", "", ""});
  capabilities.push_back(
      {"enable_memory_tracking", "on", "off", "not_imported", "only PyTorch's own", ""});
  EXPECT_TRUE(analyze(session.data).kernels);
  EXPECT_EQ(analyze(session.data).memory.unknown(), (Unknown{"only PyTorch's own", ""}));
  capabilities.push_back({"gpu_work", "on", "off", "not_in_trace", "it has none", "profile it"});
  const Overview overview = analyze(session.data);
  const Unknown why{"it has none", "profile it"};
  ASSERT_FALSE(overview.kernels);
  EXPECT_EQ(overview.kernels.unknown(), why);
  EXPECT_EQ(overview.transfers.copies.unknown(), why);
  EXPECT_EQ(overview.memory.unknown(), why);
  EXPECT_EQ(overview.latency.launch_ns.unknown(), why);
}

TEST(Overview, WhatMayHaveBeenLostIsUnknown) {
  TestSession session;
  session.data.summary.header.engine = "Trace";
  session.data.summary.ledger.emplace().kernel_records = 0;
  session.data.summary.ledger->scopes_dropped = 1;  // no GPU work
  EXPECT_TRUE(analyze(session.data).kernels);
  session.data.summary.ledger->writer.dropped["disk_floor"] = 17'100;
  const Overview dropped = analyze(session.data);
  ASSERT_FALSE(dropped.kernels);
  EXPECT_EQ(dropped.kernels.unknown().reason,
            "the log has no GPU work, but there may have been some: records were lost: "
            "disk_floor 17,100");
  session.data.summary.ledger.reset();
  const Overview unclosed = analyze(session.data);
  ASSERT_FALSE(unclosed.kernels);
  EXPECT_NE(unclosed.kernels.unknown().reason.find(format::kUnclosed), std::string::npos);
  session.data.summary.live = true;
  EXPECT_TRUE(analyze(session.data).kernels);
  session.data.summary.live = false;
  session.kernel("gemm", 0, 1);
  EXPECT_TRUE(analyze(session.finish()).kernels);
}

TEST(Overview, LossesAreCaveats) {
  TestSession session;
  session.data.summary.ledger.emplace().kernel_records = 0;
  session.data.summary.ledger->launches_missing = 3;
  session.data.summary.ledger->writer.dropped["disk_full"] = 7;
  const Overview overview = analyze(session.data);
  const auto has = [&](std::string_view text) {
    return std::find(overview.caveats.begin(), overview.caveats.end(), text) !=
           overview.caveats.end();
  };
  EXPECT_TRUE(has("the session was cut off: " + std::string(format::kUnclosed)));
  EXPECT_TRUE(has("3 kernel launches have no record"));
  EXPECT_TRUE(has("7 rows were dropped by the log"));
}

TEST(RunOverview, TheSlowestRankStandsOut) {
  RunData run;
  run.id = "r";
  for (int rank = 0; rank < 3; ++rank) {
    TestSession session;
    session.data.summary.header.rank = rank;
    session.data.summary.duration_ns = 1000;
    session.kernel("gemm", 0, rank == 1 ? 600 : 300);
    session.kernel("ncclDevKernel_AllReduce_Sum", 700, 100);
    run.sessions.push_back(session.finish());
  }
  const RunOverview overview = analyze_run(run);
  ASSERT_EQ(overview.ranks.size(), 3u);
  EXPECT_EQ(overview.ranks[1].busy_ns.value_or(0), 700);
  EXPECT_EQ(overview.ranks[1].communication_ns.value_or(0), 100);
  ASSERT_TRUE(overview.compute);
  EXPECT_EQ(overview.compute->slowest, 1u);
  EXPECT_DOUBLE_EQ(overview.compute->mean, 400);
  EXPECT_DOUBLE_EQ(overview.compute->max, 600);
  EXPECT_DOUBLE_EQ(overview.compute->share, 200.0 / 600);
  EXPECT_FALSE(overview.iteration);
}

TEST(RunOverview, WhatARankDidNotRecordIsUnknown) {
  RunData run;
  TestSession session;
  session.data.summary.header.engine = "Monitor";
  session.data.summary.duration_ns = 1000;
  session.data.summary.devices.push_back(base::Json::object().set("device", 0));
  run.sessions.push_back(session.finish());
  const RunOverview overview = analyze_run(run);
  const RankFigures& rank = overview.ranks.at(0);
  for (const auto* figure :
       {&rank.busy_ns, &rank.kernel_ns, &rank.wait_ns, &rank.communication_ns}) {
    EXPECT_FALSE(figure->is_known());
  }
  // The GPU is there; how busy it was nobody knows.
  ASSERT_EQ(rank.overview.devices.size(), 1u);
  EXPECT_TRUE(rank.overview.devices[0].busy_series.points.empty());
}

TEST(RunOverview, OneRankHasNoImbalance) {
  RunData run;
  TestSession session;
  session.kernel("a", 0, 1);
  run.sessions.push_back(session.finish());
  EXPECT_FALSE(analyze_run(run).busy);
}

TEST(Missing, MarkersNeedABackendThatHearsThem) {
  SessionSummary summary;
  summary.header.backend = "none";
  ASSERT_FALSE(records_markers(summary));
  EXPECT_NE(records_markers(summary).unknown().remedy.find("GPUFL_BACKEND=nvidia"),
            std::string::npos);
  summary.rows["marker"] = 1;  // a trace that was imported has them all the same
  EXPECT_TRUE(records_markers(summary));
  summary.rows.clear();
  summary.header.backend = "nvidia";
  EXPECT_TRUE(records_markers(summary));
}

}  // namespace
}  // namespace gpufl::analysis
