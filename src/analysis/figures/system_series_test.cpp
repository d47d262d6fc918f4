// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/system_series.hpp"

#include <gtest/gtest.h>

#include "analysis/figures/energy.hpp"
#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;
constexpr int64_t kSecond = 1'000'000'000;

TEST(Series, PartsWithNothingHaveNoPoint) {
  SeriesBuilder builder({0, 100}, 4);
  builder.add(0, 1);
  builder.add(24, 3);
  builder.add(60, 5);
  builder.add(100, 9);  // the end belongs to the last part
  builder.add(101, 7);  // outside
  const Series series = builder.finish();
  EXPECT_EQ(series.step_ns, 25);
  EXPECT_EQ(series.points, (std::vector<SeriesPoint>{{0, 1, 2, 3}, {50, 5, 5, 5}, {75, 9, 9, 9}}));
}

TEST(Series, HeldValuesAreWeightedByTime) {
  SeriesBuilder builder({0, 100}, 2);
  builder.hold(-50, 40, 10);
  builder.hold(40, 70, 20);
  const Series series = builder.finish();
  EXPECT_EQ(series.points, (std::vector<SeriesPoint>{{0, 10, 12, 20}, {50, 20, 20, 20}}));
}

TEST(Series, OfNoTimeIsEmpty) {
  SeriesBuilder builder({5, 5}, 10);
  builder.add(5, 1);
  builder.hold(0, 10, 1);
  EXPECT_TRUE(builder.finish().points.empty());
}

TEST(SystemMetrics, LevelsAndRates) {
  TestSession session;
  session.data.summary.duration_ns = 4 * kSecond;
  session.metric("temperature_c", 1, 0, 40);
  session.metric("temperature_c", 1, 3 * kSecond, 60);
  session.metric("energy_mj", 1, 0, 1000);
  session.metric("energy_mj", 1, 2 * kSecond, 5000);
  session.metric("cpu_util_permille", -1, kSecond, 500);
  AnalysisOptions options;
  options.series_points = 4;
  const SessionData data = session.finish();
  const auto metrics = system_metrics(data, options);
  ASSERT_EQ(metrics.size(), 3u);
  EXPECT_FALSE(metrics[0].device);
  EXPECT_EQ(metrics[1].metric, "energy_mj");
  EXPECT_EQ(metrics[1].series.points.size(), 2u);
  EXPECT_DOUBLE_EQ(metrics[1].series.points[0].mean, 2000);  // a second
  EXPECT_EQ(metrics[2].values.min, 40);
  EXPECT_EQ(metrics[2].values.mean(), 50);
  EXPECT_EQ(metrics[2].values.max, 60);
  EXPECT_EQ(metrics[2].series.points.size(), 2u);
  options.window = Interval{2 * kSecond, 4 * kSecond};
  EXPECT_EQ(system_metrics(data, options)[1].values.count, 1u);
  options.device = 0;
  EXPECT_TRUE(system_metrics(data, options).empty());
}

TEST(Counters, TotalsAndRatesOfAWindow) {
  TestSession session;
  session.data.summary.duration_ns = 10 * kSecond;
  session.counter("tokens", 0, 0);
  session.counter("tokens", 2 * kSecond, 200);
  session.counter("tokens", 6 * kSecond, 1000);
  const SessionData data = session.finish();
  auto counters = counter_figures(data, {});
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_EQ(counters[0].increase(), 1000);
  EXPECT_DOUBLE_EQ(*counters[0].per_second(), 100);
  AnalysisOptions options;
  options.window = Interval{4 * kSecond, 8 * kSecond};
  counters = counter_figures(data, options);
  EXPECT_EQ(counters[0].increase(), 800);
  EXPECT_DOUBLE_EQ(*counters[0].per_second(), 200);
}

TEST(Energy, TheCounterIsPreferredToPower) {
  TestSession session;
  for (int i = 0; i <= 4; ++i) {
    session.metric("energy_mj", 0, i * kSecond, 7'000'000 + i * 300'000);
    session.metric("power_mw", 0, i * kSecond, 999'000);
  }
  const EnergyMeter meter(session.finish().tables);
  EXPECT_NEAR(*meter.joules(0, {{0, 4 * kSecond}}), 1200, 1e-6);
  EXPECT_NEAR(*meter.joules(0, {{kSecond / 2, kSecond}, {2 * kSecond, 3 * kSecond}}), 450, 1e-6);
}

TEST(Energy, PowerIsIntegratedBetweenSamples) {
  TestSession session;
  session.metric("power_mw", 0, 0, 100'000);
  session.metric("power_mw", 0, kSecond, 300'000);
  session.metric("power_mw", 0, 2 * kSecond, 300'000);
  session.metric("power_mw", 1, 0, 50'000);
  session.metric("power_mw", 1, kSecond, 50'000);
  session.metric("power_mw", 1, 2 * kSecond, 50'000);
  const EnergyMeter meter(session.finish().tables);
  EXPECT_NEAR(*meter.joules(0, {{0, 2 * kSecond}}), 500, 1e-6);
  EXPECT_NEAR(*meter.joules({{0, 2 * kSecond}}), 600, 1e-6);
}

TEST(Energy, IsUnknownWhereNothingWasSampled) {
  TestSession session;
  for (const int64_t time : {0, 1, 2, 60, 61, 62}) {
    session.metric("power_mw", 0, time * kSecond, 100'000);
  }
  const EnergyMeter meter(session.finish().tables);
  EXPECT_TRUE(meter.joules(0, {{0, 2 * kSecond}}));
  EXPECT_FALSE(meter.joules(0, {{10 * kSecond, 20 * kSecond}}));
  EXPECT_FALSE(meter.joules(0, {{0, 61 * kSecond}}));
  EXPECT_FALSE(meter.joules(0, {{0, 100 * kSecond}}));
  EXPECT_FALSE(meter.joules(5, {{0, kSecond}}));
  EXPECT_FALSE(EnergyMeter(Tables{}).joules({{0, 1}}));
}

}  // namespace
}  // namespace gpufl::analysis
