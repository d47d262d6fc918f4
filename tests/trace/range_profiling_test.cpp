// SPDX-License-Identifier: Apache-2.0
// Hardware counters by scope of the real tracer over the stand-in libcupti.

#include <cupti.h>
#include <gtest/gtest.h>

#include "backend/scope_stops.hpp"
#include "tests/standin/cupti/standin_ranging.hpp"
#include "tests/standin/cupti/standin_sampling.hpp"
#include "tests/trace/tracer_fixture.hpp"

namespace gpufl::backend {
namespace {

using format::Kind;
using standin::RangedMetric;
namespace column = format::range_metric_column;

constexpr int64_t kThread = 77, kScope = 5;

class RangeProfiling : public TracerFixture {
 protected:
  void SetUp() override {
    TracerFixture::SetUp();
    void* handle = dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW);
    ranging_ = reinterpret_cast<standin::CuptiStandinRangingFunction*>(
        dlsym(handle, "cupti_standin_ranging"))();
    sampling_ = reinterpret_cast<standin::CuptiStandinSamplingFunction*>(
        dlsym(handle, "cupti_standin_sampling"))();
    sampling_->reset();
    ranging_->reset();
    set_metrics({{}});
    sink_.scopes = [](int64_t thread, int64_t) { return ScopeRef{thread == kThread ? kScope : 0}; };
  }
  void TearDown() override {
    ranging_->hang(nullptr);
    tracer_.reset();
    ScopeStops::instance().set_patience(ScopeStops::kPatience);
  }

  void set_metrics(const std::vector<RangedMetric>& metrics, uint32_t together = 1) {
    ranging_->set_metrics(metrics.data(), static_cast<uint32_t>(metrics.size()), together);
  }
  void begin(const std::vector<std::string>& metrics = {"smsp__inst_executed.sum"},
             int64_t least_ns = 0) {
    TraceOptions options;
    options.ranges = RangeOptions{metrics, least_ns};
    ASSERT_TRUE(start(options).available);
    callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  }
  bool drain_until_listening() {
    return drain_until([] { return ScopeStops::instance().is_listening(); });
  }
  // A scope of the program's, as the recorder of scopes tells of it. Whether it had a range.
  template <typename Body>
  bool scope(std::string_view name, Body body) {
    const uint64_t token = ++last_scope_;
    ScopeStops& stops = ScopeStops::instance();
    const bool has_range = stops.is_listening() && stops.before_begin(name);
    if (has_range) stops.begun(token, kThread);
    body();
    if (stops.is_listening()) stops.ended(token);
    return has_range;
  }
  auto launches(int count) {
    return [this, count] {
      for (int i = 0; i < count; ++i) standin_->launch({});
    };
  }
  std::string lacking(const char* value = "reason") {
    for (const base::Json& line : sink_.lines[Kind::Capability]) {
      if (line["asked"].as_string() == "RangeProfiler") return line[value].as_string();
    }
    return "";
  }
  std::string metric(const std::vector<int64_t>& row) {
    return sink_.value(format::Dict::Metric, row[column::kMetric]);
  }

  const standin::CuptiStandinRanging* ranging_ = nullptr;
  const standin::CuptiStandinSampling* sampling_ = nullptr;
  uint64_t last_scope_ = 0;
};

TEST_F(RangeProfiling, AScopeHasItsOwnCountsAndLaunchesAreCountedNotMissing) {
  set_metrics({{"smsp__inst_executed.sum", 80, 1}});
  begin();
  ASSERT_TRUE(drain_until_listening());
  EXPECT_EQ(tracer_->status().counting, "counting");
  EXPECT_EQ(standin_->enabled_kinds(), 0u) << "beside records it would count what makes them";
  launches(5)();
  EXPECT_TRUE(scope("step", launches(3)));
  launches(2)();
  const format::Ledger ledger = finish();
  ASSERT_EQ(rows(Kind::RangeMetric).size(), 1u);
  const auto row = rows(Kind::RangeMetric).front();
  EXPECT_EQ(metric(row), "smsp__inst_executed.sum");
  EXPECT_EQ(sink_.value(format::Dict::Name, row[column::kRange]), "step");
  EXPECT_EQ(row[column::kValue], 24);
  EXPECT_EQ(row[column::kExponent], 1) << "240, neither what ran before the scope nor after it";
  EXPECT_EQ(row[column::kScope], kScope);
  EXPECT_EQ(row[column::kPass], 0);
  EXPECT_GT(row[column::kDuration], 0);
  EXPECT_LT(row[column::kStart], 60'000'000'000) << "session time";
  EXPECT_EQ(ledger.launches_seen, 10u);
  EXPECT_EQ(ledger.launches_counted, 10u);
  EXPECT_EQ(ledger.kernel_records, 0u);
  EXPECT_EQ(ledger.ranges, 1u);
  EXPECT_EQ(ledger.ranges_skipped, 0u);
  EXPECT_EQ(ledger.completeness(), format::Completeness::Complete);
  EXPECT_EQ(ranging_->enabled(), 0u);
  EXPECT_EQ(ranging_->hosts(), 0u);
  EXPECT_EQ(ranging_->disturbed(), 0u);
  EXPECT_FALSE(sampling_->is_initialized());
  EXPECT_FALSE(ScopeStops::instance().is_listening());
}

TEST_F(RangeProfiling, PassesAreSpreadOverIterationsAndNoneRunsTwice) {
  set_metrics({{"a.sum", 1, 1}, {"b.sum", 10, 1}, {"wide.pct", 100, 3}});
  begin({"a.sum", "wide.pct", "b.sum"});
  ASSERT_TRUE(drain_until_listening());
  int iterations = 0;
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(scope("step", [&] {
      ++iterations;
      standin_->launch({});
    })) << i;
  }
  EXPECT_EQ(iterations, 5);
  ASSERT_TRUE(drain_until([&] { return tracer_->status().counting == "counted"; }));
  EXPECT_FALSE(scope("step", launches(1))) << "it has everything";
  finish();
  std::map<std::string, int64_t> passes;
  for (const auto& row : rows(Kind::RangeMetric)) passes[metric(row)] = row[column::kPass];
  EXPECT_EQ(passes, (std::map<std::string, int64_t>{{"a.sum", 0}, {"b.sum", 0}, {"wide.pct", 2}}));
  EXPECT_EQ(ranging_->started(), 5u);
  EXPECT_EQ(ranging_->stopped(), 5u);
  EXPECT_EQ(lacking(), "");
}

TEST_F(RangeProfiling, WhatTheHardwareCountsTogetherTakesOnePass) {
  set_metrics({{"a.sum", 1, 1}, {"b.sum", 10, 1}}, 2);
  begin({"a.sum", "b.sum"});
  ASSERT_TRUE(drain_until_listening());
  EXPECT_TRUE(scope("step", launches(1)));
  ASSERT_TRUE(drain_until([&] { return tracer_->status().counting == "counted"; }));
  finish();
  EXPECT_EQ(rows(Kind::RangeMetric).size(), 2u);
  EXPECT_EQ(ranging_->started(), 1u);
}

TEST_F(RangeProfiling, MetricsThatGotNoPassAreNamed) {
  set_metrics({{"a.sum", 1, 1}, {"b.sum", 10, 1}, {"wide.pct", 100, 3}});
  begin({"a.sum", "b.sum", "wide.pct"}, 60'000'000'000);
  ASSERT_TRUE(drain_until_listening());
  for (int i = 0; i < 3; ++i) scope("step", launches(1));
  finish();
  EXPECT_EQ(rows(Kind::RangeMetric).size(), 2u);
  EXPECT_EQ(lacking(), "passes_missing");
  EXPECT_EQ(lacking("detail"), "no pass, or not all of them, for step: wide.pct");
  EXPECT_EQ(lacking("got"), "in part");
}

TEST_F(RangeProfiling, WithoutAScopeTheSessionSaysSo) {
  begin();
  ASSERT_TRUE(drain_until_listening());
  launches(2)();
  finish();
  EXPECT_EQ(lacking(), "no_scope");
}

TEST_F(RangeProfiling, StandsBetweenRecordsAndEachHasItsLaunches) {
  for (int turn = 0; turn < 3; ++turn) {
    if (turn == 1) {
      begin();
      ASSERT_TRUE(drain_until_listening());
      scope("step", launches(2));
    } else {
      ASSERT_TRUE(start().available);
      EXPECT_FALSE(scope("step", launches(2)));
    }
    const format::Ledger ledger = finish();
    EXPECT_EQ(ledger.kernel_records, turn == 1 ? 0u : 2u);
    EXPECT_EQ(ledger.launches_counted, turn == 1 ? std::optional<uint64_t>(2) : std::nullopt);
    EXPECT_EQ(ledger.completeness(), format::Completeness::Complete);
  }
  ASSERT_EQ(rows(Kind::RangeMetric).size(), 1u);
  EXPECT_EQ(rows(Kind::RangeMetric)[0][column::kValue], 2);
}

TEST_F(RangeProfiling, KernelsOfGraphsAreCountedAsOthers) {
  begin();
  ASSERT_TRUE(drain_until_listening());
  scope("step", [&] { standin_->launch({.graph_kernels = 3}); });
  const format::Ledger ledger = finish();
  ASSERT_EQ(rows(Kind::RangeMetric).size(), 1u);
  EXPECT_EQ(rows(Kind::RangeMetric)[0][column::kValue], 3);
  EXPECT_EQ(ledger.graph_launches_uncounted, 0u);
  EXPECT_EQ(ledger.graph_kernels_missing, 0u);
}

TEST_F(RangeProfiling, WhatScopesOfOtherThreadsDidMeanwhileIsIncludedAndSaid) {
  begin({"smsp__inst_executed.sum"}, 60'000'000'000);
  ASSERT_TRUE(drain_until_listening());
  scope("step", [&] {
    std::thread([&] { scope("load", launches(2)); }).join();
    standin_->launch({});
  });
  finish();
  ASSERT_EQ(rows(Kind::RangeMetric).size(), 1u);
  EXPECT_EQ(rows(Kind::RangeMetric)[0][column::kValue], 3);
  ASSERT_EQ(events("range_shared").size(), 1u);
  EXPECT_EQ(events("range_shared")[0]["text"].as_string(),
            "counters of step include what scopes of other threads did meanwhile: load");
}

TEST_F(RangeProfiling, WhatTheGpuDoesNotHaveIsLeftOut) {
  begin({"smsp__inst_executed.sum", "nonsense.sum"});
  ASSERT_TRUE(drain_until_listening());
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking(), "unknown_metrics");
  EXPECT_EQ(lacking("detail"), "CUDA device 0 has no nonsense.sum");
  EXPECT_TRUE(scope("step", launches(1)));
  finish();
  EXPECT_EQ(rows(Kind::RangeMetric).size(), 1u);
}

TEST_F(RangeProfiling, WithoutAnyMetricNothingIsCountedAndTheSessionSaysWhy) {
  begin({"nonsense.sum"});
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(tracer_->status().counting, "unknown_metrics");
  EXPECT_FALSE(scope("step", launches(1)));
  finish();
  EXPECT_EQ(lacking(), "unknown_metrics");
}

TEST_F(RangeProfiling, AScopeGoesOnWhenTheCountersAreHeldByOthers) {
  begin();
  ASSERT_TRUE(drain_until_listening());
  standin_->fail("cuptiRangeProfilerStart", CUPTI_ERROR_HARDWARE_BUSY);
  EXPECT_FALSE(scope("step", launches(1)));
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking(), "counters_held");
  EXPECT_EQ(lacking("got"), "Trace");
  finish();
  standin_->fail("cuptiRangeProfilerStart", 0);
  EXPECT_EQ(ranging_->enabled(), 0u);
}

TEST_F(RangeProfiling, WithoutPermissionTheSessionSaysSo) {
  standin_->fail("cuptiRangeProfilerEnable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  begin();
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking(), "permission_denied");
  finish();
  standin_->fail("cuptiRangeProfilerEnable", 0);
}

TEST_F(RangeProfiling, ACuptiWithoutItRecordsInstead) {
  use_cupti(GPUFL_STANDIN_CUPTI_OLD);
  TraceOptions options;
  options.ranges = RangeOptions{{"overview"}};
  ASSERT_TRUE(start(options).available);
  standin_->launch({});
  drain();
  EXPECT_EQ(lacking(), "cupti_too_old");
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.kernel_records, 1u);
  EXPECT_FALSE(ledger.launches_counted);
}

TEST_F(RangeProfiling, ALaunchUnderWayLeavesTheScopeWithoutARangeOnly) {
  begin();
  ASSERT_TRUE(drain_until_listening());
  {
    HeldCall held([this](auto inside, void* data) { sampling_->launch(inside, data); });
    EXPECT_FALSE(scope("step", [] {}));
  }
  EXPECT_TRUE(scope("step", launches(1)));
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.ranges_skipped, 1u);
  EXPECT_EQ(ledger.ranges, 1u);
  EXPECT_EQ(ranging_->disturbed(), 0u);
}

TEST_F(RangeProfiling, AScopeThatWaitsForTooLongGoesOnAndCountingEnds) {
  ScopeStops::instance().set_patience(std::chrono::milliseconds(20));
  begin();
  ASSERT_TRUE(drain_until_listening());
  ranging_->hang("cuptiRangeProfilerStart");
  EXPECT_FALSE(scope("step", [] {}));
  EXPECT_FALSE(scope("step", [] {})) << "and no other waits";
  ranging_->hang(nullptr);
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking(), "scope_waits");
  finish();
  EXPECT_TRUE(rows(Kind::RangeMetric).empty());
  EXPECT_EQ(ranging_->started(), ranging_->stopped());
  EXPECT_EQ(ranging_->enabled(), 0u);
}

TEST_F(RangeProfiling, ARangeThatIsOpenAtTheEndIsThrownAway) {
  begin();
  ASSERT_TRUE(drain_until_listening());
  scope("step", [&] {
    standin_->launch({});
    finish();
  });
  EXPECT_TRUE(rows(Kind::RangeMetric).empty());
  EXPECT_EQ(ranging_->stopped(), 1u);
  EXPECT_EQ(ranging_->enabled(), 0u);
}

TEST_F(RangeProfiling, AContextThatIsDestroyedTakesItsRangeWithItAndNoScopeHangs) {
  begin();
  ASSERT_TRUE(drain_until_listening());
  scope("step", [&] {
    callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
    ASSERT_TRUE(drain_until([] { return !ScopeStops::instance().is_listening(); }));
  });
  EXPECT_FALSE(scope("step", [] {}));
  const format::Ledger ledger = finish();
  EXPECT_TRUE(rows(Kind::RangeMetric).empty());
  EXPECT_EQ(ledger.ranges, 0u);
}

}  // namespace
}  // namespace gpufl::backend
