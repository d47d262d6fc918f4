// SPDX-License-Identifier: Apache-2.0
#include "text/units.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace gpufl::text {
namespace {

TEST(UnitsTest, DurationsOfOneSentenceHaveOneUnit) {
  EXPECT_EQ(duration_beside(62'610, 348.3e6), "0.063 ms");
  EXPECT_EQ(duration_beside(348.3e6, 62'610), "348.3 ms");
  EXPECT_EQ(duration_beside(0, 348.3e6), "0 ms");
  EXPECT_EQ(duration_beside(57'010, 2.105e6), "57.01 us") << "below a millisecond, all in us";
  EXPECT_EQ(duration_beside(2.105e6, 57'010), "2,105 us");
  EXPECT_EQ(duration_beside(400, 20.43e6), "0.400 us");
  EXPECT_EQ(duration_beside(0, 2.105e6), "0 ms");
  EXPECT_EQ(duration_among(2e6, {3e6, 2e6, 1e3}), "2,000 us");
  EXPECT_EQ(duration_among(0, {3e6, 0, 1e3}), "0 us");
  EXPECT_EQ(duration_beside(400, 348.3e6), "<0.001 ms");
  EXPECT_EQ(duration_beside(900, 1.5e3), "0.900 us");
  EXPECT_EQ(duration_beside(30e9, 7200e9), "0.008 h");
  EXPECT_EQ(duration_beside(0, 0), "0 ns");
}

TEST(UnitsTest, Counts) {
  EXPECT_EQ(count(0), "0");
  EXPECT_EQ(count(999), "999");
  EXPECT_EQ(count(1000), "1,000");
  EXPECT_EQ(count(UINT64_MAX), "18,446,744,073,709,551,615");
  EXPECT_EQ(signed_count(-1234), "-1,234");
  EXPECT_EQ(signed_count(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(UnitsTest, DurationsKeepFourDigits) {
  EXPECT_EQ(duration(0), "0 ns");
  EXPECT_EQ(duration(412), "412 ns");
  EXPECT_EQ(duration(412.4), "412 ns");
  EXPECT_EQ(duration(1000), "1.000 us");
  EXPECT_EQ(duration(12345), "12.35 us");
  EXPECT_EQ(duration(123456789), "123.5 ms");
  EXPECT_EQ(duration(1.5e9), "1.500 s");
  EXPECT_EQ(duration(119e9), "119.0 s");
  EXPECT_EQ(duration(150e9), "2.50 min");
  EXPECT_EQ(duration(3 * 3600e9), "3.00 h");
  EXPECT_EQ(duration(72 * 3600e9), "3.00 d");
}

TEST(UnitsTest, BytesRatesAndShares) {
  EXPECT_EQ(bytes(0), "0 B");
  EXPECT_EQ(bytes(1023), "1023 B");
  EXPECT_EQ(bytes(1536), "1.500 KiB");
  EXPECT_EQ(bytes(150754820096.0), "140.4 GiB");
  EXPECT_EQ(rate(0), "0 /s");
  EXPECT_EQ(rate(1250000), "1.250 M/s");
  EXPECT_EQ(percent(0.1234), "12.3%");
}

TEST(UnitsTest, TimesAreUtc) {
  EXPECT_EQ(utc(0), "1970-01-01 00:00:00.000 UTC");
  EXPECT_EQ(utc(1763178312123456789), "2025-11-15 03:45:12.123 UTC");
  EXPECT_EQ(utc(-1), "1969-12-31 23:59:59.999 UTC");
}

TEST(UnitsTest, MetricsAreShownInTheUnitTheirNameEndsIn) {
  EXPECT_EQ(metric_label("power_mw"), "power");
  EXPECT_EQ(metric_label("network_rx_bytes_per_s"), "network_rx");
  EXPECT_EQ(metric_label("performance_state"), "performance_state");
  EXPECT_EQ(metric_value("power_mw", 312500), "312.5 W");
  EXPECT_EQ(metric_value("energy_mj", 5e9), "5.000 MJ");
  EXPECT_EQ(metric_value("gpu_util_pct", 87), "87%");
  EXPECT_EQ(metric_value("gpu_util_pct", 87.25), "87.2%");
  EXPECT_EQ(metric_value("cpu_util_permille", 123), "12.3%");
  EXPECT_EQ(metric_value("load_1m_milli", 1250), "1.25");
  EXPECT_EQ(metric_value("temperature_c", 61), "61 C");
  EXPECT_EQ(metric_value("sm_clock_mhz", 1979.6), "1980 MHz");
  EXPECT_EQ(metric_value("memory_used_bytes", 1073741824), "1.000 GiB");
  EXPECT_EQ(metric_value("pcie_rx_bytes_per_s", 2048), "2.000 KiB/s");
  EXPECT_EQ(metric_value("pcie_width_lanes", 16), "16 lanes");
  EXPECT_EQ(metric_value("throttle_reasons_bits", 5), "0x5");
  EXPECT_EQ(metric_value("performance_state", 8), "8");
}

}  // namespace
}  // namespace gpufl::text
