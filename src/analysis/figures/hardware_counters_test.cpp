// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/hardware_counters.hpp"

#include <gtest/gtest.h>

#include "analysis/math/scaled_value.hpp"
#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis::testing {
namespace {

constexpr const char* kBytes = "dram__bytes.sum";
constexpr const char* kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";

TEST(CountedRanges, EachMetricOverTheTimesThatItWasCounted) {
  TestSession session;
  session.range_metric("step", kBytes, 400, 1, {.start = 300});
  session.range_metric("step", kBytes, 200, 1, {.start = 200});
  session.range_metric("step", kOccupancy, 3125, -2, {.start = 200});
  session.range_metric("load", kBytes, 7, 0, {.start = 100});
  session.range_metric("step", kBytes, 5, 0, {.start = 400, .device = 1});
  const auto ranges = counted_ranges(session.finish(), {});
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].label, "load") << "counted first";
  EXPECT_EQ(ranges[1].label, "step");
  EXPECT_EQ(ranges[1].device, 0);
  ASSERT_EQ(ranges[1].counters.size(), 2u);
  EXPECT_EQ(ranges[1].mean(kBytes), 3000.0);
  EXPECT_EQ(ranges[1].counters[0].values.count, 2u);
  EXPECT_EQ(ranges[1].counters[0].values.max, 4000.0);
  EXPECT_EQ(ranges[1].mean(kOccupancy), 31.25) << "not 31.250000000000004";
  EXPECT_EQ(ranges[1].mean("lts__t_bytes.sum"), std::nullopt);
  EXPECT_EQ(ranges[2].device, 1);
}

TEST(CountedRanges, KernelsByTheirNames) {
  TestSession session;
  session.range_metric("_Z4axpyIfEvPT_", kBytes, 1);
  session.range_metric("step<1>", kBytes, 1, 0, {.start = 1});
  const auto ranges = counted_ranges(session.finish(), {});
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].name, "void axpy<float>(float*)");
  EXPECT_EQ(ranges[0].label, "axpy");
  EXPECT_EQ(ranges[1].label, "step<1>") << "the program's own name stays as it is";
}

TEST(CountedRanges, OfADeviceAndAWindow) {
  TestSession session;
  session.range_metric("step", kBytes, 1, 0, {.start = 10});
  session.range_metric("step", kBytes, 3, 0, {.start = 20, .device = 1});
  const SessionData data = session.finish();
  AnalysisOptions options;
  options.device = 1;
  ASSERT_EQ(counted_ranges(data, options).size(), 1u);
  EXPECT_EQ(counted_ranges(data, options)[0].mean(kBytes), 3.0);
  options.device.reset();
  options.window = Interval{0, 15};
  ASSERT_EQ(counted_ranges(data, options).size(), 1u);
  EXPECT_EQ(counted_ranges(data, options)[0].mean(kBytes), 1.0);
  EXPECT_TRUE(counted_ranges(TestSession().finish(), {}).empty());
}

TEST(SampledCounters, OverTheTimeThatWasSampled) {
  TestSession session;
  session.data.summary.duration_ns = 1000;
  session.pm_sample(kOccupancy, 0, 100, 25);
  session.pm_sample(kOccupancy, 100, 300, 50);
  session.pm_sample(kOccupancy, 800, 100, 5, {.device = 1});
  session.pm_sample(kBytes, 0, 100, 7);
  AnalysisOptions options;
  options.series_points = 2;
  const auto counters = sampled_counters(session.finish(), options);
  ASSERT_EQ(counters.size(), 3u);
  EXPECT_EQ(counters[0].metric, kBytes);
  EXPECT_EQ(counters[0].device, 0) << "by device first";
  EXPECT_EQ(counters[1].metric, kOccupancy);
  EXPECT_EQ(counters[1].values.count, 2u);
  EXPECT_EQ(counters[1].sampled_ns, 400);
  ASSERT_EQ(counters[1].series.points.size(), 1u) << "nothing was sampled in the second half";
  EXPECT_EQ(counters[1].series.points[0].mean, (25.0 * 100 + 50.0 * 300) / 400);
  EXPECT_EQ(counters[2].device, 1);
  EXPECT_EQ(counters[2].series.points[0].time_ns, 500);
}

TEST(ScaledValue, IsExactWhereADecimalIs) {
  EXPECT_EQ(scaled_value(12, 3), 12'000.0);
  EXPECT_EQ(scaled_value(3, -1), 0.3);
  EXPECT_EQ(scaled_value(-5, 0), -5.0);
}

}  // namespace
}  // namespace gpufl::analysis::testing
