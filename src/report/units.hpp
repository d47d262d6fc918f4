// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Numbers as people read them, in plain ASCII. Pure functions; any thread.
namespace gpufl::report {

std::string format_count(uint64_t value);        // "12,345,678"
std::string format_signed_count(int64_t value);  // "-12,345"
std::string format_duration(double ns);          // "412 ns", "12.34 ms", "3.20 min"
std::string format_bytes(double bytes);          // "1.50 GiB"
std::string format_percent(double fraction);     // 0.1234: "12.3%"
std::string format_rate(double per_second);      // "1.25 M/s"
std::string format_utc(int64_t wall_ns);         // "2026-11-15 03:45:12.123 UTC"

// A metric's name without the unit it ends in: "power_mw" is "power".
std::string_view metric_label(std::string_view metric);
// A value in the unit that the metric's name ends in: ("power_mw", 312500) is "312.5 W".
std::string format_metric(std::string_view metric, double value);

}  // namespace gpufl::report
