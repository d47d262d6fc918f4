// SPDX-License-Identifier: Apache-2.0
#include "backend/synthetic/synthetic_backend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <tuple>

#include "backend/metric_table.hpp"
#include "backend/recording_sink.hpp"
#include "base/clock.hpp"

namespace gpufl::backend {
namespace {

namespace column = format::kernel_column;

constexpr int64_t kSecondNs = 1'000'000'000;

// Drains `duration_ns` in `steps` steps. Time is only what drain() is told.
RecordingSink trace(const SyntheticOptions& options, int steps, int64_t duration_ns = kSecondNs) {
  RecordingSink sink;
  const auto tracer = make_synthetic_tracer(options);
  EXPECT_TRUE(tracer->start(base::monotonic_ns()).available);
  for (int i = 1; i <= steps; ++i) tracer->drain(i * duration_ns / steps, sink);
  format::Ledger ledger;
  tracer->account(ledger);
  EXPECT_EQ(ledger.launches_seen, sink.rows[format::Kind::Kernel].size());
  EXPECT_EQ(ledger.kernel_records, ledger.launches_seen);
  EXPECT_EQ(ledger.vendor_dropped, 0u);
  EXPECT_EQ(ledger.impossible_times, 0u);
  return sink;
}

// start() reads the clock, so two runs are shifted against each other by some microseconds.
std::vector<int64_t> since_first(const std::vector<int64_t>& times) {
  std::vector<int64_t> shifted;
  for (const int64_t t : times) shifted.push_back(t - times.front());
  return shifted;
}

TEST(SyntheticTracer, KeepsTheRate) {
  auto sink = trace({.devices = 1, .kernels_per_s = 50'000, .seed = 1}, 40);
  EXPECT_NEAR(static_cast<double>(sink.rows[format::Kind::Kernel].size()), 50'000, 100);
  EXPECT_NEAR(static_cast<double>(sink.rows[format::Kind::Memcpy].size()), 50'000 * 3 / 64.0, 10);
  EXPECT_NEAR(static_cast<double>(sink.rows[format::Kind::Memset].size()), 50'000 / 64.0, 10);
  EXPECT_NEAR(static_cast<double>(sink.rows[format::Kind::Sync].size()), 50'000 / 128.0, 10);
}

TEST(SyntheticTracer, RowsDoNotDependOnHowOftenTheyAreDrained) {
  const SyntheticOptions options{.devices = 3, .kernels_per_s = 7'919, .seed = 42};
  auto one = trace(options, 1);
  auto many = trace(options, 97);
  EXPECT_EQ(one.dictionaries, many.dictionaries);
  const size_t rows =
      std::min(one.rows[format::Kind::Kernel].size(), many.rows[format::Kind::Kernel].size());
  ASSERT_GT(rows, 7'000u);
  for (size_t i = 0; i < column::kCount; ++i) {
    auto a = one.column(format::Kind::Kernel, i), b = many.column(format::Kind::Kernel, i);
    a.resize(rows);
    b.resize(rows);
    if (i == column::kStart || i == column::kApiStart) {
      a = since_first(a);
      b = since_first(b);
    }
    EXPECT_EQ(a, b) << "column " << i;
  }
}

TEST(SyntheticTracer, TheSeedDecides) {
  auto one = trace({.devices = 1, .kernels_per_s = 1'000, .seed = 1}, 1);
  auto two = trace({.devices = 1, .kernels_per_s = 1'000, .seed = 2}, 1);
  EXPECT_NE(one.column(format::Kind::Kernel, column::kConfig),
            two.column(format::Kind::Kernel, column::kConfig));
  EXPECT_NE(one.dictionaries[format::Dict::Config], two.dictionaries[format::Dict::Config]);
}

class SyntheticTracerRates : public testing::TestWithParam<int64_t> {};

TEST_P(SyntheticTracerRates, KernelsOfAStreamAndCallsOfAThreadDoNotOverlap) {
  const int64_t duration_ns = GetParam() > 100'000 ? kSecondNs / 20 : 3 * kSecondNs;
  auto sink = trace({.devices = 2, .kernels_per_s = GetParam(), .seed = 7}, 10, duration_ns);
  // (device, stream) -> end of the event before; thread -> end of the call before.
  std::map<std::pair<int64_t, int64_t>, std::vector<std::pair<int64_t, int64_t>>> streams;
  std::vector<std::pair<int64_t, int64_t>> calls;
  const auto collect = [&](format::Kind kind, size_t stream, size_t device, size_t api_start,
                           size_t api_duration) {
    for (const auto& row : sink.rows[kind]) {
      streams[{row[device], row[stream]}].emplace_back(row[0], row[0] + row[1]);
      calls.emplace_back(row[api_start], row[api_start] + row[api_duration]);
      EXPECT_LT(row[api_start], row[0]);
    }
  };
  namespace copy = format::memcpy_column;
  namespace set = format::memset_column;
  collect(format::Kind::Kernel, column::kStream, column::kDevice, column::kApiStart,
          column::kApiDuration);
  collect(format::Kind::Memcpy, copy::kStream, copy::kDevice, copy::kApiStart, copy::kApiDuration);
  collect(format::Kind::Memset, set::kStream, set::kDevice, set::kApiStart, set::kApiDuration);
  EXPECT_EQ(streams.size(), GetParam() > 2 ? 4u : 3u);
  streams[{-1, -1}] = calls;
  for (auto& [place, events] : streams) {
    std::sort(events.begin(), events.end());
    for (size_t i = 1; i < events.size(); ++i) {
      ASSERT_GE(events[i].first, events[i - 1].second) << place.first << "/" << place.second;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, SyntheticTracerRates, testing::Values(1, 1'000, 2'000'000));

TEST(SyntheticTracer, ConfigsNameTheirKernels) {
  auto sink = trace({.devices = 1, .kernels_per_s = 1'000, .seed = 1}, 1);
  const auto& names = sink.dictionaries[format::Dict::Name];
  for (const std::string& text : sink.dictionaries[format::Dict::Config]) {
    const auto config = base::Json::parse(text);
    ASSERT_TRUE(config.is_ok()) << text;
    EXPECT_GT((*config)["name"].as_integer(), 0);
    EXPECT_LE((*config)["name"].as_integer(), static_cast<int64_t>(names.size()));
    EXPECT_EQ((*config)["grid"].items().size(), 3u);
    EXPECT_EQ((*config)["block"].items().size(), 3u);
    EXPECT_GE((*config)["block"].items()[0].as_integer(), 32);
    EXPECT_LE((*config)["block"].items()[0].as_integer(), 1024);
  }
  for (const int64_t id : sink.column(format::Kind::Kernel, column::kConfig)) {
    ASSERT_LE(id, static_cast<int64_t>(sink.dictionaries[format::Dict::Config].size()));
  }
}

TEST(SyntheticTracer, NothingAfterStop) {
  RecordingSink sink;
  const auto tracer = make_synthetic_tracer({.devices = 1, .kernels_per_s = 1'000, .seed = 1});
  ASSERT_TRUE(tracer->start(base::monotonic_ns()).available);
  tracer->stop();
  tracer->drain(kSecondNs, sink);
  EXPECT_EQ(sink.rows[format::Kind::Kernel].size(), 0u);
}

// A tracer that is drained too rarely loses launches, says so, and goes on.
TEST(SyntheticTracer, DrainIsBoundedAndCountsWhatItSkips) {
  class CountingSink : public RecordingSink {
   public:
    void submit(const format::Batch& rows) override {
      EXPECT_LE(rows.rows(), 4096u);
      if (rows.kind() == format::Kind::Kernel) kernels += rows.rows();
    }
    uint64_t kernels = 0;
  } sink;
  SyntheticOptions options;
  options.kernels_per_s = 4'000'000;
  const auto tracer = make_synthetic_tracer(options);
  ASSERT_TRUE(tracer->start(base::monotonic_ns()).available);
  tracer->drain(kSecondNs, sink);
  const uint64_t of_first = sink.kernels;
  EXPECT_EQ(of_first, uint64_t{1} << 20);
  tracer->drain(kSecondNs + kSecondNs / 100, sink);
  EXPECT_NEAR(static_cast<double>(sink.kernels - of_first), 40'000, 10);
  format::Ledger ledger;
  tracer->account(ledger);
  EXPECT_EQ(ledger.kernel_records, sink.kernels);
  EXPECT_EQ(*ledger.launches_seen, sink.kernels + *ledger.vendor_dropped);
  EXPECT_NEAR(static_cast<double>(*ledger.launches_seen), 4'040'000, 5'000);
  EXPECT_FALSE(ledger.is_complete());
}

RecordingSink sampled(int steps, const PcSamplingOptions& sampling, format::Ledger& ledger) {
  RecordingSink sink;
  TraceOptions options;
  options.pc_sampling = sampling;
  const auto tracer = make_synthetic_tracer({.devices = 2, .kernels_per_s = 100}, options);
  EXPECT_TRUE(tracer->start(base::monotonic_ns()).available);
  for (int i = 1; i <= steps; ++i) tracer->drain(i * 3 * kSecondNs / steps, sink);
  tracer->account(ledger);
  EXPECT_EQ(tracer->status().sampling->windows, *ledger.sampling_windows);
  return sink;
}

TEST(SyntheticTracer, SamplesInWindows) {
  namespace coverage = format::coverage_column;
  namespace sample = format::pc_sample_column;
  format::Ledger ledger, again;
  RecordingSink sink = sampled(60, {}, ledger);
  // One a second, the first at once; a row for each device.
  EXPECT_EQ(ledger.sampling_windows, 3u);
  const auto& windows = sink.rows[format::Kind::Coverage];
  ASSERT_EQ(windows.size(), 6u);
  int64_t samples = 0;
  for (const auto& row : windows) {
    EXPECT_EQ(row[coverage::kShape], static_cast<int64_t>(format::CoverageShape::Window));
    EXPECT_EQ(row[coverage::kDuration], 5'000'000);
    EXPECT_EQ(sink.value(format::Dict::Name, row[coverage::kEngine]), "PcSampling");
    EXPECT_GT(row[coverage::kSamples], 1000);
    samples += row[coverage::kSamples];
  }
  EXPECT_EQ(ledger.pc_samples, static_cast<uint64_t>(samples));
  int64_t all = 0;
  for (const auto& row : sink.rows[format::Kind::PcSample]) {
    const std::string& stall = sink.value(format::Dict::Metric, row[sample::kStall]);
    if (!stall.ends_with("_not_issued")) all += row[sample::kSamples];
  }
  EXPECT_EQ(all, samples) << "those that issued nothing are among the others";
  EXPECT_EQ(sink.column(format::Kind::PcSample, sample::kPc),
            sampled(2, {}, again).column(format::Kind::PcSample, sample::kPc));
}

TEST(SyntheticTracer, ADeepScopeHasNoPauses) {
  DeepDemand deep;
  deep.scopes = 1;
  PcSamplingOptions options;
  options.deep = &deep;
  options.window_ns = kSecondNs / 10;
  format::Ledger ledger;
  sampled(10, options, ledger);
  EXPECT_GE(*ledger.sampling_windows, 28u);
  deep.scopes = 0;
  deep.window = true;
  format::Ledger of_window;
  sampled(10, options, of_window);
  EXPECT_EQ(of_window.sampling_windows, ledger.sampling_windows) << "nor has a deep window";
}

TEST(SyntheticTracer, RateZeroIsNoRows) {
  auto sink = trace({.devices = 1, .kernels_per_s = 0, .seed = 1}, 2);
  EXPECT_EQ(sink.rows[format::Kind::Kernel].size(), 0u);
}

TEST(SyntheticHealth, EveryMetricIsInTheTableWithItsRate) {
  const auto health = make_synthetic_health({.devices = 2, .kernels_per_s = 0, .seed = 1});
  std::vector<MetricValue> fast, slow;
  std::vector<ProcessUse> processes;
  std::vector<DeviceEvent> events;
  health->sample_fast(fast);
  health->sample_slow(slow, processes, events);
  for (const auto& [values, rate] :
       {std::pair{&fast, MetricRate::Fast}, std::pair{&slow, MetricRate::Slow}}) {
    ASSERT_FALSE(values->empty());
    for (const MetricValue& value : *values) {
      const MetricSpec* spec = find_metric(MetricScope::Device, value.metric);
      ASSERT_NE(spec, nullptr) << value.metric;
      EXPECT_EQ(spec->rate, rate) << value.metric;
      EXPECT_TRUE(value.index == 0 || !spec->index.empty()) << value.metric;
    }
  }
  EXPECT_EQ(processes.size(), 2u);
  EXPECT_EQ(health->devices().size(), 2u);
}

TEST(SyntheticHealth, TwoSourcesOfOneSeedAgree) {
  const SyntheticOptions options{.devices = 2, .kernels_per_s = 0, .seed = 9};
  const auto a = make_synthetic_health(options), b = make_synthetic_health(options);
  std::vector<MetricValue> from_a, from_b;
  for (int i = 0; i < 50; ++i) {
    a->sample_fast(from_a);
    b->sample_fast(from_b);
  }
  const auto key = [](const MetricValue& v) { return std::tuple(v.device, v.metric, v.value); };
  ASSERT_EQ(from_a.size(), from_b.size());
  for (size_t i = 0; i < from_a.size(); ++i) ASSERT_EQ(key(from_a[i]), key(from_b[i]));
}

TEST(SyntheticOptions, ReadsTheEnvironmentAndClamps) {
  setenv("GPUFL_SYNTHETIC_DEVICES", "1000", 1);
  setenv("GPUFL_SYNTHETIC_KERNELS_PER_S", "12x", 1);
  setenv("GPUFL_SYNTHETIC_SEED", "18446744073709551615", 1);
  const auto options = SyntheticOptions::from_environment();
  unsetenv("GPUFL_SYNTHETIC_DEVICES");
  unsetenv("GPUFL_SYNTHETIC_KERNELS_PER_S");
  unsetenv("GPUFL_SYNTHETIC_SEED");
  EXPECT_EQ(options.devices, 64);
  EXPECT_EQ(options.kernels_per_s, SyntheticOptions{}.kernels_per_s);
  EXPECT_EQ(options.seed, UINT64_MAX);
}

}  // namespace
}  // namespace gpufl::backend
