// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

// Numbers as people read them, in plain ASCII: the one place for it, so that reports, insights and
// exports say the same. Pure functions; any thread.
namespace gpufl::text {

struct Step {
  double size;
  std::string_view unit;
};
// Four digits that matter, in the largest unit of which there is at least one.
std::string scaled(double value, std::span<const Step> steps);

std::string count(uint64_t number);        // "12,345,678"
std::string signed_count(int64_t number);  // "-12,345"
std::string duration(double ns);           // "412 ns", "12.34 ms", "3.20 min"
// In one unit for two of them in one sentence, the longer's: "0.063 ms" beside "348.3 ms". Where
// one is below a millisecond and the other below 100 of them, both in us: "57.01 us" beside "2,105
// us".
std::string duration_beside(double ns, double other_ns);
// The same of one of several; `all` has it, too.
std::string duration_among(double ns, std::initializer_list<double> all);
std::string brief_duration(double ns);  // "73.58s", "4.20ms": for lines with many of them
std::string bytes(double count);        // "1.500 GiB"
std::string percent(double share);      // 0.1234: "12.3%"
std::string rate(double per_second);    // "1.250 M/s"
std::string utc(int64_t wall_ns);       // "2026-11-15 03:45:12.123 UTC"
// "3 waits", "1 wait", "2 copies", "5 launches"
std::string plural(uint64_t number, std::string_view noun);

// A metric's name without the unit it ends in: "power_mw" is "power".
std::string_view metric_label(std::string_view metric);
// A value in the unit that the metric's name ends in: ("power_mw", 312500) is "312.5 W".
std::string metric_value(std::string_view metric, double value);

}  // namespace gpufl::text
