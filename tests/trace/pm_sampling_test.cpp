// SPDX-License-Identifier: Apache-2.0
// Hardware counters over time of the real tracer over the stand-in libcupti.

#include <cupti_pcsampling.h>

#include <algorithm>

#include "backend/nvidia/cupti/context_worker.hpp"
#include "backend/nvidia/cupti/pm_readings.hpp"
#include "tests/trace/pm_sampling_fixture.hpp"

namespace gpufl::backend {
namespace {

using format::Kind;
namespace column = format::pm_sample_column;

constexpr int64_t kHourNs = 3'600'000'000'000;

// A GPU's clock that is an hour ahead of the wall clock.
class HourAhead final : public DeviceClock {
 public:
  base::Result<int64_t> measure(int64_t) override {
    ++measured;
    is_measuring = true;
    std::this_thread::sleep_for(takes);
    is_measuring = false;
    return int64_t{0};
  }
  bool awaits_records(int64_t) const override { return false; }
  std::optional<DeviceInterval> place(int64_t, uint64_t first, uint64_t last) const override {
    const base::ClockAnchor now = base::read_clock_anchor();
    const int64_t ahead_ns = now.wall_ns + kHourNs - now.monotonic_ns;
    return DeviceInterval{static_cast<int64_t>(first) - ahead_ns,
                          static_cast<int64_t>(last) - ahead_ns, 1, 1};
  }
  std::optional<uint64_t> stamp_at(int64_t, int64_t) const override { return std::nullopt; }
  std::atomic<int> measured{0};
  std::atomic<bool> is_measuring{false};
  std::chrono::milliseconds takes{0};
};

class ClosedGate final : public CaptureGate {
 public:
  bool is_open(int64_t) const override { return false; }
  void on_profiler_start(int64_t) noexcept override {}
  void on_profiler_stop(int64_t) noexcept override {}
};

using PmSampling = PmSamplingFixture;

TEST_F(PmSampling, CountersComeBesideRecordsAndNoKernelIsMissing) {
  set_metrics({{"a.sum", 10, 1}, {"b.sum", 5, 1}}, 2);
  options_.pm_sampling->metrics = {"a.sum", "b.sum"};
  options_.pm_sampling->interval_ns = 250'000;
  begin();
  ASSERT_TRUE(drain_until_started());
  EXPECT_EQ(tracer_->status().counting, "counting");
  EXPECT_EQ(pm_->interval(), 250'000u);
  for (int i = 0; i < 5; ++i) standin_->launch({});
  // Each kernel counts 1.8 times, with what takes its times.
  ASSERT_TRUE(drain_until([&] { return sum_of("a.sum") >= 89.9; }));
  const format::Ledger ledger = finish();
  EXPECT_NEAR(sum_of("a.sum"), 90, 1e-6);
  EXPECT_NEAR(sum_of("b.sum"), 45, 1e-6);
  EXPECT_EQ(rows(Kind::Kernel).size(), 5u);
  EXPECT_EQ(ledger.kernel_records, 5u);
  EXPECT_FALSE(ledger.launches_counted);
  EXPECT_EQ(ledger.pm_samples, rows(Kind::PmSample).size() / 2);
  EXPECT_EQ(ledger.pm_samples_dropped, 0u);
  EXPECT_EQ(ledger.pm_buffers_full, 0u);
  EXPECT_EQ(ledger.completeness(), format::Completeness::Complete);
  EXPECT_EQ(pm_->started(), 1u);
  EXPECT_EQ(pm_->stopped(), 1u);
  EXPECT_EQ(pm_->enabled(), 0u);
  EXPECT_EQ(ranging_->hosts(), 0u);
  EXPECT_FALSE(sampling_->is_initialized());
  EXPECT_EQ(lacking(), "");
}

TEST_F(PmSampling, SamplesFollowOneAnotherOnTheSessionsClock) {
  begin();
  const int64_t begun_ns = base::monotonic_ns() - session_start_ns_;
  ASSERT_TRUE(drain_until([&] { return rows(Kind::PmSample).size() > 500; }));
  EXPECT_EQ(finish().pm_samples_dropped, 0u);
  EXPECT_EQ(lacking(), "");
  const int64_t ended_ns = base::monotonic_ns() - session_start_ns_;
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (const auto& row : rows(Kind::PmSample)) {
    spans.emplace_back(row[column::kStart], row[column::kStart] + row[column::kDuration]);
  }
  std::sort(spans.begin(), spans.end());
  constexpr int64_t kRounding = 5'000;  // the wall clock may be slewed between two reads
  EXPECT_GE(spans.front().first, begun_ns - kRounding) << "the first begins long before";
  EXPECT_LE(spans.back().second, ended_ns + kRounding);
  for (size_t i = 0; i < spans.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(spans[i].second - spans[i].first), 100'000, kRounding);
    if (i != 0) {
      EXPECT_NEAR(static_cast<double>(spans[i].first - spans[i - 1].second), 0, kRounding) << i;
    }
  }
}

TEST_F(PmSampling, TheGpusOwnClockComesFirst) {
  pm_->set_clock(kHourNs);
  const auto clock = std::make_shared<HourAhead>();
  options_.device_clock = clock;
  begin();
  ASSERT_TRUE(drain_until([&] { return !rows(Kind::PmSample).empty(); }));
  EXPECT_GE(clock->measured, 1);
  const int64_t now_ns = base::monotonic_ns() - session_start_ns_;
  finish();
  const int64_t start_ns = rows(Kind::PmSample).front()[column::kStart];
  EXPECT_GE(start_ns, 0);
  EXPECT_LT(start_ns, now_ns);
  EXPECT_EQ(lacking(), "");
}

TEST_F(PmSampling, WhatLiesOnNoKnownClockIsLeftOutAndSaid) {
  pm_->set_clock(kHourNs);
  begin();
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking(), "clock_unknown");
  EXPECT_EQ(lacking("got"), "in part");
  const format::Ledger ledger = finish();
  EXPECT_TRUE(rows(Kind::PmSample).empty());
  EXPECT_GT(ledger.pm_samples_dropped, 0u);
  EXPECT_EQ(ledger.pm_samples, 0u);
  EXPECT_EQ(sink_.lines[Kind::Capability].size(), 1u) << "once";
}

TEST_F(PmSampling, OfAProgramsScopesOnlyWhatLiesInThem) {
  options_.pm_sampling->scope_only = true;
  constexpr int64_t kBegin = 40'000'000, kEnd = 60'000'000;
  sink_.open_scopes = [](int64_t begin_ns, int64_t end_ns) {
    return begin_ns < kEnd && end_ns > kBegin;
  };
  begin();
  ASSERT_TRUE(drain_until([&] {
    return base::monotonic_ns() - session_start_ns_ > kEnd + 40'000'000 && pm_->started() != 0;
  }));
  const format::Ledger ledger = finish();
  ASSERT_FALSE(rows(Kind::PmSample).empty());
  for (const auto& row : rows(Kind::PmSample)) {
    EXPECT_GT(row[column::kStart] + row[column::kDuration], kBegin);
    EXPECT_LT(row[column::kStart], kEnd);
  }
  EXPECT_EQ(ledger.pm_samples, rows(Kind::PmSample).size());
  EXPECT_NEAR(static_cast<double>(rows(Kind::PmSample).size()), (kEnd - kBegin) / 100e3, 2);
  EXPECT_EQ(lacking(), "");
}

TEST_F(PmSampling, AScopeThatLiesWithinASampleKeepsIt) {
  options_.pm_sampling->scope_only = true;
  // A scope of 4 us every millisecond.
  sink_.open_scopes = [](int64_t begin_ns, int64_t end_ns) {
    const int64_t next_ns = (begin_ns + 999'999 - 4'000) / 1'000'000 * 1'000'000;
    return next_ns < end_ns;
  };
  begin();
  ASSERT_TRUE(drain_past_samples());
  EXPECT_GT(finish().pm_samples, 40u);
}

TEST_F(PmSampling, WithoutAScopeTheSessionSaysSo) {
  options_.pm_sampling->scope_only = true;
  begin();
  ASSERT_TRUE(drain_past_samples());
  const format::Ledger ledger = finish();
  EXPECT_TRUE(rows(Kind::PmSample).empty());
  EXPECT_EQ(ledger.pm_samples, 0u);
  EXPECT_EQ(ledger.completeness(), format::Completeness::Complete);
  EXPECT_EQ(lacking(), "no_scope");
  EXPECT_EQ(lacking("got"), "in part");
}

TEST_F(PmSampling, ASessionThatEndsBeforeItsFirstSampleSaysThatAndNotThatItHasNoScope) {
  options_.pm_sampling->scope_only = true;
  options_.pm_sampling->interval_ns = 1'000'000'000;
  sink_.open_scopes = [](int64_t, int64_t) { return true; };
  begin();
  ASSERT_TRUE(drain_until_started());
  EXPECT_EQ(finish().pm_samples, 0u);
  EXPECT_EQ(lacking(), "no_samples");
  EXPECT_EQ(lacking("got"), "in part");
  EXPECT_EQ(sink_.lines[Kind::Capability].size(), 1u);
}

TEST_F(PmSampling, WithoutAGpuItMissesNothing) {
  ASSERT_TRUE(start(options_).available);
  drain();
  finish();
  EXPECT_EQ(lacking(), "");
}

TEST_F(PmSampling, OutsideOfTheCaptureRangeNothingIsKept) {
  ClosedGate gate;
  options_.gate = &gate;
  options_.pm_sampling->scope_only = true;
  sink_.open_scopes = [](int64_t, int64_t) { return true; };
  begin();
  ASSERT_TRUE(drain_past_samples());
  standin_->launch({});
  finish();
  EXPECT_TRUE(rows(Kind::PmSample).empty());
  EXPECT_EQ(lacking(), "") << "a scope was open";
}

TEST_F(PmSampling, ASetOfSeveralPassesIsRefusedWithWhatFitsIntoOne) {
  set_metrics({{"a.sum", 1, 1}, {"b.sum", 1, 1}, {"c.sum", 1, 1}, {"wide.pct", 1, 3}}, 2);
  options_.pm_sampling->metrics = {"a.sum", "wide.pct", "b.sum", "c.sum"};
  begin();
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking(), "several_passes");
  EXPECT_EQ(lacking("detail"),
            "the metrics for PM sampling need 5 passes, and a sample is one: into one fit "
            "a.sum,b.sum");
  EXPECT_EQ(lacking("got"), "Trace");
  EXPECT_EQ(tracer_->status().counting, "several_passes");
  EXPECT_EQ(events("counting_ended").size(), 1u);
  standin_->launch({});
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.kernel_records, 1u);
  EXPECT_EQ(pm_->started(), 0u);
  EXPECT_EQ(ranging_->hosts(), 0u);
}

TEST_F(PmSampling, AMetricOfSeveralPassesFitsNowhere) {
  set_metrics({{"wide.pct", 1, 3}});
  options_.pm_sampling->metrics = {"wide.pct"};
  begin();
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking("detail"),
            "the metrics for PM sampling need 3 passes, and a sample is one: none of them fits "
            "into one");
  finish();
}

TEST_F(PmSampling, WhatTheGpuDoesNotHaveIsLeftOut) {
  options_.pm_sampling->metrics = {kPmMetric, "nonsense.sum"};
  begin();
  ASSERT_TRUE(drain_until([&] { return !rows(Kind::PmSample).empty(); }));
  EXPECT_EQ(lacking(), "unknown_metrics");
  EXPECT_EQ(lacking("detail"), "CUDA device 0 has no nonsense.sum");
  EXPECT_EQ(lacking("got"), "in part");
  finish();
}

TEST_F(PmSampling, WithoutAnyMetricTheSessionRecordsAndSaysWhy) {
  options_.pm_sampling->metrics = {"nonsense.sum"};
  begin();
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking(), "unknown_metrics");
  EXPECT_EQ(lacking("detail"), "GH100 has none of the metrics that pm_sampling_metrics names");
  standin_->launch({});
  EXPECT_EQ(finish().kernel_records, 1u);
}

TEST_F(PmSampling, AChipThatCannotBeSampledOverTimeIsRefusedByName) {
  pm_->set_chip("GA100");
  begin();
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking(), "unsupported_gpu");
  EXPECT_EQ(lacking("detail"),
            "GA100 has no samples at an interval of time, which Turing and GA100 lack");
  EXPECT_EQ(lacking("got"), "Trace");
  standin_->launch({});
  EXPECT_EQ(finish().kernel_records, 1u);
  EXPECT_EQ(pm_->started(), 0u);
}

TEST_F(PmSampling, AFullBufferIsCountedAndSamplingGoesOn) {
  pm_->fill_buffer(1, 0);
  begin();
  ASSERT_TRUE(drain_until([&] { return !rows(Kind::PmSample).empty(); }));
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.pm_buffers_full, 1u);
  EXPECT_EQ(ledger.completeness(), format::Completeness::Incomplete);
  EXPECT_EQ(ledger.completeness_of_trace(), format::Completeness::Complete);
  EXPECT_EQ(pm_->started(), 2u);
  EXPECT_EQ(pm_->enabled(), 0u);
  EXPECT_EQ(lacking(), "buffer_full");
  EXPECT_EQ(lacking("got"), "in part");
}

TEST_F(PmSampling, ABufferThatIsFullAgainAndAgainEndsItAlthoughSomeSamplesCome) {
  pm_->fill_buffer(100, 300);
  begin();
  ASSERT_TRUE(drain_until([&] { return sink_.lines[Kind::Capability].size() == 2; }));
  EXPECT_EQ(lacking(), "buffer_full");
  const base::Json& last = sink_.lines[Kind::Capability].back();
  EXPECT_EQ(last["reason"].as_string(), "buffer_full");
  EXPECT_EQ(last["got"].as_string(), "Trace");
  EXPECT_GT(rows(Kind::PmSample).size(), 800u);
  EXPECT_EQ(finish().pm_buffers_full, 3u);
  EXPECT_EQ(pm_->started(), 3u);
  EXPECT_EQ(pm_->enabled(), 0u);
}

TEST_F(PmSampling, MoreSamplesThanTheImageHoldsAreReadInTurns) {
  options_.pm_sampling->interval_ns = 10'000;
  options_.pm_sampling->max_samples = 64;
  begin();
  ASSERT_TRUE(drain_until_started());
  standin_->launch({});
  ASSERT_TRUE(drain_until([&] { return sum_of(kPmMetric) >= 1.7; }));
  const format::Ledger ledger = finish();
  EXPECT_NEAR(sum_of(kPmMetric), 1.8, 1e-9);
  EXPECT_GT(ledger.pm_samples, 64u);
}

TEST_F(PmSampling, DecodingThatDoesNotKeepUpIsReadInPartsAndWhatIsLeftIsCounted) {
  options_.pm_sampling->interval_ns = 50'000;
  options_.pm_sampling->max_samples = 64;
  pm_->slow_down(1'000);
  begin();
  const int64_t begun_ns = base::monotonic_ns();
  ASSERT_TRUE(drain_until([&] { return rows(Kind::PmSample).size() > 300; }));
  EXPECT_LT(base::monotonic_ns() - begun_ns, 3'000'000'000) << "a read has a bound";
  const int64_t ending_ns = base::monotonic_ns();
  const format::Ledger ledger = finish();
  EXPECT_LT(base::monotonic_ns() - ending_ns, 3'000'000'000);
  EXPECT_GT(ledger.pm_samples_dropped, 1'000u);
  EXPECT_EQ(ledger.pm_buffers_full, 0u);
  EXPECT_EQ(ledger.completeness(), format::Completeness::Incomplete);
  EXPECT_EQ(lacking(), "");
}

TEST_F(PmSampling, OfWhatWaitsForTheLogAsMuchIsKeptAsFits) {
  PmReadings readings(false, nullptr, nullptr, 0);
  PmReading reading;
  reading.metrics = std::make_shared<const std::vector<std::string>>(10, "a.sum");
  reading.samples.resize(90'000);
  readings.put(reading);
  readings.put(reading);
  format::Ledger ledger;
  readings.account(ledger);
  EXPECT_EQ(ledger.pm_samples_dropped, 80'000u) << "of 180,000 with ten values, a million is kept";
}

TEST_F(PmSampling, BesidePcSamplingOfAnotherItIsRefused) {
  void* handle = dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW);
  const auto enable =
      reinterpret_cast<decltype(&cuptiPCSamplingEnable)>(dlsym(handle, "cuptiPCSamplingEnable"));
  CUpti_PCSamplingEnableParams others{CUpti_PCSamplingEnableParamsSize, nullptr,
                                      reinterpret_cast<CUcontext>(0x77)};
  ASSERT_EQ(enable(&others), CUPTI_SUCCESS);
  begin();
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking(), "counters_held");
  EXPECT_EQ(lacking("got"), "Trace");
  finish();
  sampling_->forget_contexts();
}

TEST_F(PmSampling, EachCallThatFailsIsNamed) {
  for (const char* function :
       {"cuptiPmSamplingGetCounterAvailability", "cuptiProfilerHostInitialize",
        "cuptiPmSamplingEnable", "cuptiPmSamplingGetCounterDataSize",
        "cuptiPmSamplingCounterDataImageInitialize", "cuptiPmSamplingSetConfig",
        "cuptiPmSamplingStart", "cuptiPmSamplingDecodeData", "cuptiPmSamplingGetCounterDataInfo",
        "cuptiPmSamplingCounterDataGetSampleInfo", "cuptiProfilerHostEvaluateToGpuValues"}) {
    standin_->fail(function, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
    begin();
    EXPECT_TRUE(drain_until([&] { return !lacking().empty(); })) << function;
    EXPECT_EQ(lacking(), "permission_denied") << function;
    EXPECT_TRUE(lacking("detail").starts_with(std::string(function) + "(")) << lacking("detail");
    standin_->launch({});
    EXPECT_EQ(finish().kernel_records, 1u) << function;
    standin_->fail(function, 0);
    EXPECT_EQ(pm_->enabled(), 0u) << function;
    sink_.lines.clear();
  }
}

TEST_F(PmSampling, ACuptiWithoutItRecordsInstead) {
  use_cupti(GPUFL_STANDIN_CUPTI_OLD);
  ASSERT_TRUE(start(options_).available);
  standin_->launch({});
  drain();
  EXPECT_EQ(lacking(), "cupti_too_old");
  EXPECT_EQ(finish().kernel_records, 1u);
}

TEST_F(PmSampling, AContextThatIsDestroyedLeavesNothingEnabled) {
  begin();
  ASSERT_TRUE(drain_until([&] { return !rows(Kind::PmSample).empty(); }));
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  standin_->launch({});
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.kernel_records, 1u);
  EXPECT_EQ(pm_->enabled(), 0u);
  EXPECT_EQ(pm_->stopped(), 1u);
  EXPECT_FALSE(sampling_->is_initialized());
}

TEST_F(PmSampling, AGpuWithoutContextsIsStoppedAndBeginsAgainWithTheNext) {
  begin();
  ASSERT_TRUE(drain_until([&] { return !rows(Kind::PmSample).empty(); }));
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  ASSERT_TRUE(drain_until([&] { return pm_->enabled() == 0; }));
  EXPECT_EQ(pm_->stopped(), 1u);
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  EXPECT_TRUE(drain_until_started(2));
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.completeness(), format::Completeness::Complete);
  EXPECT_EQ(lacking(), "");
}

TEST_F(PmSampling, AContextIsNotDestroyedUnderAReadingOfTheClock) {
  pm_->set_clock(kHourNs);
  const auto clock = std::make_shared<HourAhead>();
  clock->takes = std::chrono::milliseconds(15);
  options_.device_clock = clock;
  begin();
  ASSERT_TRUE(base::eventually([&] { return clock->is_measuring.load(); }));
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  EXPECT_FALSE(clock->is_measuring);
  const int measured = clock->measured;
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_EQ(clock->measured, measured) << "none begins in it any more";
  finish();
}

TEST_F(PmSampling, AReadingThatLastsHoldsUpTheProgramForABoundedTime) {
  pm_->set_clock(kHourNs);
  const auto clock = std::make_shared<HourAhead>();
  clock->takes = std::chrono::milliseconds(1'000);
  options_.device_clock = clock;
  begin();
  ASSERT_TRUE(base::eventually([&] { return clock->is_measuring.load(); }));
  const int64_t destroying_ns = base::monotonic_ns();
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  EXPECT_LT(base::monotonic_ns() - destroying_ns, 500'000'000);
  finish();
}

TEST_F(PmSampling, ABufferThatIsFullAtTheEndIsCounted) {
  options_.pm_sampling->interval_ns = 10'000'000;
  options_.pm_sampling->max_samples = 65'536;
  begin();
  ASSERT_TRUE(drain_until_started());
  pm_->fill_now();
  EXPECT_EQ(finish().pm_buffers_full, 1u);
}

TEST_F(PmSampling, OneEngineFollowsAnotherInAProcess) {
  begin();
  ASSERT_TRUE(drain_until([&] { return !rows(Kind::PmSample).empty(); }));
  finish();
  rows(Kind::PmSample).clear();
  begin();
  EXPECT_TRUE(drain_until([&] { return !rows(Kind::PmSample).empty(); }));
  finish();
  EXPECT_EQ(pm_->started(), 2u);
  EXPECT_EQ(pm_->stopped(), 2u);
  EXPECT_EQ(pm_->enabled(), 0u);
  EXPECT_EQ(lacking(), "");
}

TEST_F(PmSampling, ACallThatDoesNotReturnEndsItAndRecordsGoOn) {
  begin();
  ASSERT_TRUE(drain_until_started());
  pm_->hang("cuptiPmSamplingDecodeData");
  ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
  EXPECT_EQ(lacking(), "counting_hangs");
  EXPECT_EQ(lacking("got"), "Trace");
  standin_->launch({});
  EXPECT_EQ(finish().kernel_records, 1u);
  EXPECT_EQ(events("stays_attached").size(), 1u);
  pm_->hang(nullptr);
  EXPECT_TRUE(base::eventually([] { return !ContextEngine::does_any_hang(); }));
}

}  // namespace
}  // namespace gpufl::backend
