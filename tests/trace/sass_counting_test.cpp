// SPDX-License-Identifier: Apache-2.0
// Counters by instruction of the real tracer over the stand-in libcupti.

#include <cupti.h>
#include <gtest/gtest.h>

#include "tests/standin/cupti/standin_counting.hpp"
#include "tests/standin/cupti/standin_sampling.hpp"
#include "tests/trace/tracer_fixture.hpp"

namespace gpufl::backend {
namespace {

using format::Kind;
using standin::CountedInstruction;
namespace column = format::sass_metric_column;

class SassCounting : public TracerFixture {
 protected:
  void SetUp() override {
    TracerFixture::SetUp();
    void* handle = dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW);
    counting_ = reinterpret_cast<standin::CuptiStandinCountingFunction*>(
        dlsym(handle, "cupti_standin_counting"))();
    counting_->reset();
    reinterpret_cast<standin::CuptiStandinSamplingFunction*>(
        dlsym(handle, "cupti_standin_sampling"))()
        ->reset();
  }
  void TearDown() override {
    counting_->hang(false);
    tracer_.reset();
  }

  void begin(const std::vector<std::string>& metrics = {"efficiency"}) {
    TraceOptions options;
    options.sass = SassOptions{metrics};
    ASSERT_TRUE(start(options).available);
    callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  }
  bool drain_until_counting() {
    return drain_until([&] { return counting_->enabled() == 1; });
  }
  std::string lacking() {
    for (const base::Json& line : sink_.lines[Kind::Capability]) {
      if (line["asked"].as_string() == "SassMetrics") return line["reason"].as_string();
    }
    return "";
  }

  const standin::CuptiStandinCounting* counting_ = nullptr;
};

TEST_F(SassCounting, CountsCarryFunctionModulePcAndMetricAndLaunchesAreCountedNotMissing) {
  const CountedInstruction instructions[] = {
      {"gemm", 0xfeed, 0x40, "smsp__sass_inst_executed", 8},
      {"gemm", 0xfeed, 0x50, "smsp__sass_sectors_mem_global", 32},
      {"gemm", 0xfeed, 0x60, "smsp__sass_inst_executed_op_branch", 5}};
  counting_->set_instructions(instructions, 3);
  begin();
  ASSERT_TRUE(drain_until_counting());
  EXPECT_EQ(tracer_->status().counting, "counting");
  EXPECT_EQ(counting_->metrics(), 8u) << "the preset's";
  for (int i = 0; i < 10; ++i) standin_->launch({});
  const format::Ledger ledger = finish();
  ASSERT_EQ(rows(Kind::SassMetric).size(), 2u) << "what was not asked for, and zeros, have no row";
  const auto row = rows(Kind::SassMetric).front();
  EXPECT_EQ(sink_.value(format::Dict::Name, row[column::kFunction]), "gemm");
  EXPECT_EQ(sink_.value(format::Dict::Metric, row[column::kMetric]), "smsp__sass_inst_executed");
  EXPECT_EQ(row[column::kModule], 0xfeed);
  EXPECT_EQ(row[column::kPc], 0x40);
  EXPECT_EQ(row[column::kValue], 8 * 10);
  EXPECT_EQ(rows(Kind::SassMetric)[1][column::kValue], 32 * 10);
  EXPECT_EQ(ledger.launches_seen, 10u);
  EXPECT_EQ(ledger.launches_counted, 10u);
  EXPECT_EQ(ledger.graph_launches_uncounted, 0u);
  EXPECT_EQ(ledger.launches_missing, 0u);
  EXPECT_EQ(ledger.kernel_records, 0u);
  ASSERT_EQ(rows(Kind::Api).size(), 10u) << "launches are there as calls";
  EXPECT_LT(rows(Kind::Api).front()[0], 60'000'000'000) << "session time";
  EXPECT_EQ(ledger.sass_values, 2u);
  EXPECT_TRUE(ledger.uncounted.empty());
  EXPECT_EQ(ledger.completeness(), format::Completeness::Complete);
  EXPECT_EQ(counting_->enabled(), 0u);
  EXPECT_EQ(counting_->configured(), 0u);
}

TEST_F(SassCounting, StandsBetweenRecordsAndEachHasItsLaunches) {
  const CountedInstruction instruction{};
  counting_->set_instructions(&instruction, 1);
  for (int turn = 0; turn < 3; ++turn) {
    if (turn == 1) {
      begin();
      ASSERT_TRUE(drain_until_counting());
    } else {
      ASSERT_TRUE(start().available);
    }
    standin_->launch({});
    standin_->launch({});
    const format::Ledger ledger = finish();
    EXPECT_EQ(ledger.kernel_records, turn == 1 ? 0u : 2u);
    EXPECT_EQ(ledger.launches_counted, turn == 1 ? std::optional<uint64_t>(2) : std::nullopt);
    EXPECT_EQ(ledger.completeness(), format::Completeness::Complete);
  }
  ASSERT_EQ(rows(Kind::SassMetric).size(), 1u);
  EXPECT_EQ(rows(Kind::SassMetric)[0][column::kValue], 2);
}

TEST_F(SassCounting, KernelsOfGraphsAreSaidToBeNeitherCountedNorRecorded) {
  begin();
  ASSERT_TRUE(drain_until_counting());
  standin_->launch({.graph_kernels = 3});
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.graph_launches, 1u);
  EXPECT_EQ(ledger.graph_launches_uncounted, 1u);
  EXPECT_EQ(ledger.graph_kernels_missing, 0u);
  EXPECT_TRUE(ledger.uncounted.empty());
}

TEST_F(SassCounting, AProcessThatHasCountedSaysSo) {
  begin();
  ASSERT_TRUE(drain_until_counting());
  finish();
  begin();
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking(), "counted_before");
  finish();
}

TEST_F(SassCounting, WhatTheGpuDoesNotHaveIsLeftOut) {
  counting_->lose_metric("smsp__sass_sectors_mem_global");
  begin({"efficiency", "nonsense", "smsp__sass_inst_executed"});
  ASSERT_TRUE(drain_until_counting());
  EXPECT_EQ(counting_->metrics(), 7u);  // a preset of eight, less one
  ASSERT_TRUE(drain_until([&] { return !events("counting_refused").empty(); }));
  EXPECT_EQ(events("counting_refused")[0]["text"].as_string(),
            "CUDA device 0 has no smsp__sass_sectors_mem_global, nonsense");
  EXPECT_EQ(lacking(), "unknown_metrics");
  EXPECT_EQ(tracer_->status().counting, "counting");
  finish();
}

TEST_F(SassCounting, WithoutAnyMetricKernelsAreNotCountedAndTheSessionSaysWhy) {
  begin({"nonsense"});
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking(), "unknown_metrics");
  EXPECT_EQ(tracer_->status().counting, "unknown_metrics");
  standin_->launch({});
  finish();
}

TEST_F(SassCounting, CountsThatCannotBeReadAreSaidToBeLostAndCountingEndsAllTheSame) {
  const CountedInstruction instruction{};
  counting_->set_instructions(&instruction, 1);
  begin();
  ASSERT_TRUE(drain_until_counting());
  standin_->launch({});
  standin_->fail("cuptiSassMetricsFlushData", CUPTI_ERROR_UNKNOWN);
  finish();
  standin_->fail("cuptiSassMetricsFlushData", 0);
  EXPECT_TRUE(rows(Kind::SassMetric).empty());
  EXPECT_EQ(lacking(), "cupti_error");
  EXPECT_EQ(counting_->enabled(), 0u);
  EXPECT_EQ(counting_->configured(), 0u);
  EXPECT_TRUE(events("stays_attached").empty());
}

TEST_F(SassCounting, CountsOfAContextThatIsDestroyedAreSaidToBeLost) {
  begin();
  ASSERT_TRUE(drain_until_counting());
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  ASSERT_TRUE(drain_until([&] { return counting_->configured() == 0; }));
  finish();
  EXPECT_EQ(lacking(), "counts_lost");
}

TEST_F(SassCounting, WithoutPermissionTheSessionSaysSo) {
  standin_->fail("cuptiSassMetricsSetConfig", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  begin();
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking(), "permission_denied");
  finish();
  standin_->fail("cuptiSassMetricsSetConfig", 0);
}

TEST_F(SassCounting, ACuptiWithoutItRecordsInstead) {
  use_cupti(GPUFL_STANDIN_CUPTI_OLD);
  TraceOptions options;
  options.sass = SassOptions{{"efficiency"}};
  ASSERT_TRUE(start(options).available);
  standin_->launch({});
  drain();
  EXPECT_EQ(lacking(), "cupti_too_old");
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.kernel_records, 1u);
  EXPECT_FALSE(ledger.launches_counted);
}

}  // namespace
}  // namespace gpufl::backend
