// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/metric_series.hpp"

#include <gtest/gtest.h>

#include "analysis/summary/counters.hpp"

namespace gpufl::analysis {
namespace {

using format::Batch;
using format::Dict;
using format::Kind;

TEST(MetricTableTest, KeepsOneSeriesForEachDeviceMetricAndIndex) {
  NameTable names;
  MetricTable table(names);
  format::Dictionaries dictionaries;
  dictionaries.define(Dict::Metric, 1, "power_mw");
  dictionaries.define(Dict::Metric, 2, "fan_speed_pct");
  Batch device(Kind::DeviceMetric);  // time, device, index, metric, value
  device.push_row({10, 1, 0, 1, 300});
  device.push_row({20, 0, 0, 1, 200});
  device.push_row({10, 0, 0, 1, 100});
  device.push_row({20, 0, 1, 2, 40});
  device.push_row({20, 0, 0, 2, 30});
  table.add_device(device, dictionaries);
  Batch host(Kind::HostMetric);  // time, index, metric, value
  host.push_row({10, 0, 1, 7});
  table.add_host(host, dictionaries);

  const auto series = table.finish();
  ASSERT_EQ(series.size(), 5u);
  EXPECT_EQ(series[0].device, std::nullopt);
  EXPECT_EQ(series[0].metric, "power_mw");
  EXPECT_EQ(series[1].metric, "fan_speed_pct");
  EXPECT_EQ(series[1].index, 0);
  EXPECT_EQ(series[2].index, 1);
  EXPECT_EQ(series[2].last, 40);
  EXPECT_EQ(series[3].device, 0);
  EXPECT_EQ(series[3].values.count, 2u);
  EXPECT_EQ(series[3].values.min, 100);
  EXPECT_EQ(series[3].values.mean(), 150);
  EXPECT_EQ(series[3].values.max, 200);
  EXPECT_EQ(series[3].first, 100);
  EXPECT_EQ(series[3].last, 200);
  EXPECT_EQ(series[4].device, 1);
}

TEST(MetricTableTest, CountsTheBitsOfBitMetrics) {
  NameTable names;
  MetricTable table(names);
  format::Dictionaries dictionaries;
  dictionaries.define(Dict::Metric, 1, "throttle_reasons_bits");
  Batch rows(Kind::DeviceMetric);
  for (const int64_t value : {0, 4, 5, 4}) rows.push_row({10, 0, 0, 1, value});
  table.add_device(rows, dictionaries);
  const auto series = table.finish();
  ASSERT_EQ(series.size(), 1u);
  EXPECT_EQ(series[0].bit_samples.at(0), 1u);
  EXPECT_EQ(series[0].bit_samples.at(1), 0u);
  EXPECT_EQ(series[0].bit_samples.at(2), 3u);
}

TEST(MetricTableTest, DictionaryIdsMayChangeFromFileToFile) {
  NameTable names;
  MetricTable table(names);
  Batch rows(Kind::HostMetric);
  rows.push_row({10, 0, 1, 7});
  format::Dictionaries one;
  one.define(Dict::Metric, 1, "ram_used_bytes");
  table.add_host(rows, one);
  format::Dictionaries other;
  other.define(Dict::Metric, 1, "load_1m_milli");
  table.add_host(rows, other);
  table.add_host(rows, format::Dictionaries());
  const auto series = table.finish();
  ASSERT_EQ(series.size(), 3u);
  EXPECT_EQ(series[0].metric, "?");
  EXPECT_EQ(series[1].metric, "load_1m_milli");
  EXPECT_EQ(series[2].metric, "ram_used_bytes");
}

TEST(CounterTableTest, TotalsAndRates) {
  NameTable names;
  CounterTable table(names);
  format::Dictionaries dictionaries;
  dictionaries.define(Dict::Name, 1, "tokens");
  dictionaries.define(Dict::Name, 2, "alone");
  Batch rows(Kind::Counter);  // time, name, value
  rows.push_row({1'000'000'000, 1, 100});
  rows.push_row({2'000'000'000, 1, 150});
  rows.push_row({3'000'000'000, 1, 500});
  rows.push_row({3'000'000'000, 2, 9});
  table.add(rows, dictionaries);
  const auto counters = table.finish(5'000'000'000, false);
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[0].name, "alone");
  EXPECT_EQ(counters[0].last, 9);
  EXPECT_EQ(counters[0].per_second(), std::nullopt);
  EXPECT_EQ(counters[1].name, "tokens");
  EXPECT_EQ(counters[1].increase(), 400);
  EXPECT_EQ(counters[1].last, 500);
  EXPECT_EQ(counters[1].per_second(), 80.0);
  EXPECT_EQ(table.finish(5'000'000'000, true)[1].per_second(), 100.0);
  EXPECT_EQ(table.finish(0, false)[1].per_second(), std::nullopt);
}

}  // namespace
}  // namespace gpufl::analysis
