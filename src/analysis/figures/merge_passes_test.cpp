// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/merge_passes.hpp"

#include <gtest/gtest.h>

#include "analysis/figures/counted_code.hpp"
#include "analysis/overview/overview.hpp"
#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

const std::vector<std::string> kEngines = {"Trace", "PcSampling", "SassMetrics"};

// A session of a pass that has recorded all of its launches, as its ledger will say.
class TestPass : public TestSession {
 public:
  explicit TestPass(int64_t pass) {
    format::SessionHeader& header = data.summary.header;
    header.session_id = "pass_" + std::to_string(pass);
    header.run_id = "run";
    header.pass = pass;
    header.passes = kEngines;
    header.engine = kEngines[static_cast<size_t>(pass - 1)];
    header.backend = "nvidia";
    data.summary.dir = "run/" + header.session_id;
  }
  void step(int64_t start, const std::vector<std::string>& kernels) {
    const int64_t id = scope("step", start, 1000);
    int64_t at = start;
    for (const std::string& name : kernels) {
      kernel(name, at + 50, 20, {.scope = id, .api_start = at + 10});
      at += 100;
    }
  }
  void count(std::string_view function, std::string_view metric, int64_t value) {
    data.tables.others.try_emplace(format::Kind::SassMetric, format::Kind::SassMetric)
        .first->second.push_row({5, 0, 1, 1, name(function), 16, metric_name(metric), value, 0, 0});
  }
  // Of so many launches, those counted by instruction have no rows.
  SessionData done(uint64_t counted = 0) {
    const uint64_t recorded = data.tables.kernels.rows();
    format::Ledger ledger;
    ledger.launches_seen = recorded + counted;
    ledger.kernel_records = recorded;
    if (counted > 0) ledger.launches_counted = counted;
    data.summary.ledger = ledger;
    data.summary.activity.kernels = recorded;
    return finish();
  }
};

SessionData merged(std::vector<SessionData> passes) {
  RunData run;
  run.id = "run";
  run.sessions = std::move(passes);
  merge_passes(run);
  EXPECT_EQ(run.sessions.size(), 1u);
  EXPECT_EQ(run.offset_ns.size(), 1u);
  return std::move(run.sessions.front());
}

SessionData traced() {
  TestPass pass(1);
  pass.step(0, {"gemm", "relu"});
  pass.step(2000, {"gemm", "relu"});
  return pass.done();
}

TestPass sampling() {
  TestPass pass(2);
  pass.name("something that the other has not");
  pass.step(100, {"gemm", "relu"});
  pass.step(9000, {"gemm", "relu"});
  return pass;
}

TEST(MergePasses, TakesHardwareCountersOfRanges) {
  const auto pass_of = [](int64_t number) {
    TestPass pass(number);
    pass.data.summary.header.passes = {"Trace", "RangeProfiler"};
    pass.data.summary.header.engine = number == 1 ? "Trace" : "RangeProfiler";
    return pass;
  };
  TestPass times = pass_of(1);
  times.step(0, {"relu"});
  TestPass counted = pass_of(2);
  counted.name("and another");
  counted.step(5000, {"relu"});
  counted.range_metric("relu", "dram__bytes.sum", 8, 0, {.start = 5000});
  const SessionData data = merged({times.done(), counted.done()});
  EXPECT_EQ(data.passes->ranges.value_or(9), 1u);
  EXPECT_FALSE(data.passes->counts);
  AnalysisOptions options;
  options.window = Interval{0, 500};
  const auto ranges = counted_ranges(data, options);
  ASSERT_EQ(ranges.size(), 1u) << "its times are those of another pass";
  EXPECT_EQ(ranges[0].label, "relu");
  EXPECT_EQ(ranges[0].mean("dram__bytes.sum"), 8.0);
}

TEST(MergePasses, TakesFiguresWhereTheyWereRecorded) {
  TestPass sampled = sampling();
  sampled.pc_sample("relu", 32, "smsp__pcsamp_warps_issue_stalled_wait", 30, {.scope = 2});
  sampled.pc_sample("gemm", 16, "smsp__pcsamp_warps_issue_stalled_barrier", 70);
  TestPass counted(3);
  counted.name("and another");
  counted.step(0, {"gemm"});
  counted.count("relu", "smsp__sass_inst_executed", 640);
  const SessionData data = merged({traced(), sampled.done(), counted.done(3)});

  ASSERT_NE(data.passes, nullptr);
  const MergedPasses& passes = *data.passes;
  EXPECT_EQ(data.summary.header.session_id, "pass_1");
  EXPECT_EQ(passes.times, 0u);
  EXPECT_EQ(passes.stalls.value_or(9), 1u);
  EXPECT_EQ(passes.counts.value_or(9), 2u);
  EXPECT_EQ(data.sampled().summary.header.session_id, "pass_2");
  EXPECT_EQ(data.counted().summary.header.session_id, "pass_3");

  const Overview overview = analyze(data);
  EXPECT_EQ(overview.kernels->count, 4u);
  ASSERT_TRUE(overview.stalls);
  ASSERT_EQ(overview.stalls->functions.size(), 2u);
  EXPECT_EQ(overview.stalls->functions[0].label, "gemm");
  // Its id is that of the session with the times.
  EXPECT_EQ(data.tables.name(overview.stalls->functions[1].name), "relu");
  ASSERT_EQ(overview.stalls->scopes.size(), 1u);
  EXPECT_EQ(overview.stalls->scopes[0].path, "step");

  // Rows lie in its tables as well, as rows of its own names and scopes.
  const format::Batch& rows = data.tables.others.at(format::Kind::PcSample);
  ASSERT_EQ(rows.rows(), 2u);
  const auto function = static_cast<uint32_t>(rows.at(format::pc_sample_column::kFunction, 0));
  EXPECT_EQ(data.tables.name(function), "relu");
  EXPECT_EQ(rows.at(format::pc_sample_column::kScope, 0), 2);
  EXPECT_FALSE(rows.has(format::pc_sample_column::kCorrelation));
  const auto counts = counted_functions(data.tables);
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].function, "relu");
  EXPECT_EQ(counts[0].total.warps, 640u);

  // Three launches of the last pass were counted in place of being recorded.
  EXPECT_FALSE(passes.has_mismatch());
  ASSERT_EQ(passes.uncompared.size(), 1u);
  EXPECT_EQ(passes.uncompared[0],
            "pass 3, SassMetrics: 3 launches were counted by instruction and have no record");
}

TEST(MergePasses, ListsKernelsThatRanInOnePassOnly) {
  TestPass sampled = sampling();
  sampled.step(20'000, {"other"});
  TestPass counted(3);
  for (int64_t i = 0; i < 3; ++i) counted.step(i * 1000, {"gemm"});
  const SessionData data = merged({traced(), sampled.done(), counted.done(1)});
  const MergedPasses& passes = *data.passes;
  EXPECT_TRUE(passes.has_mismatch());
  ASSERT_EQ(passes.launches.size(), 2u);
  using Counts = std::vector<std::optional<uint64_t>>;
  const LaunchMismatch* other = nullptr;
  const LaunchMismatch* gemm = nullptr;
  for (const LaunchMismatch& one : passes.launches) {
    (one.kernel == "other" ? other : gemm) = &one;
  }
  ASSERT_NE(other, nullptr);
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(other->scope, "step");
  EXPECT_EQ(other->launches, (Counts{0, 1, std::nullopt})) << "of the last not all is known";
  EXPECT_EQ(gemm->launches, (Counts{2, 2, 3})) << "more than elsewhere, though it is not all";
}

TEST(MergePasses, TellsOfAnotherOrder) {
  TestPass sampled(2);
  sampled.step(0, {"gemm", "relu"});
  sampled.step(2000, {"relu", "gemm"});
  const SessionData data = merged({traced(), sampled.done()});
  EXPECT_TRUE(data.passes->launches.empty());
  ASSERT_EQ(data.passes->order.size(), 1u);
  const OrderMismatch& mismatch = data.passes->order[0];
  EXPECT_EQ(mismatch.pass, 1u);
  EXPECT_EQ(mismatch.launch, 3u);
  EXPECT_EQ(mismatch.expected, "gemm in step");
  EXPECT_EQ(mismatch.found, "relu in step");
  EXPECT_TRUE(data.passes->lacks_session()) << "in the third pass";
}

TEST(MergePasses, AnEngineThatFellBackIsNotTakenForItself) {
  TestPass sampled = sampling();
  sampled.data.summary.header.engine = "Trace";
  sampled.data.summary.capabilities.push_back({"profiling_engine",
                                               "PcSampling",
                                               "Trace",
                                               "confidential",
                                               "the GPU refuses to be sampled",
                                               "ask your administrator",
                                               {}});
  const SessionData data = merged({traced(), sampled.done()});
  const MergedPasses& passes = *data.passes;
  EXPECT_EQ(passes.times, 0u) << "the one that asked for Trace";
  ASSERT_FALSE(passes.stalls);
  EXPECT_EQ(passes.stalls.unknown().reason,
            "the engine PcSampling was requested but is not available: the GPU refuses to be "
            "sampled");
  EXPECT_EQ(passes.list[1].got, "Trace");
  EXPECT_EQ(passes.list[1].why.reason, "the GPU refuses to be sampled");
  ASSERT_FALSE(passes.counts);
  EXPECT_EQ(passes.counts.unknown().reason, "the process has no session in pass 3, SassMetrics");
  const Overview overview = analyze(data);
  ASSERT_FALSE(overview.stalls);
  EXPECT_EQ(overview.stalls.unknown(), passes.stalls.unknown());
}

TEST(MergePasses, LeavesOtherSessionsAlone) {
  TestSession alone;
  alone.kernel("gemm", 0, 10);
  RunData run;
  run.sessions.push_back(alone.finish());
  run.offset_ns = {7};
  merge_passes(run);
  EXPECT_EQ(run.sessions[0].passes, nullptr);
  EXPECT_EQ(run.offset_ns, std::vector<int64_t>{7});
}

}  // namespace
}  // namespace gpufl::analysis
