// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analysis/stacks.hpp"

// Numbers and places as reports and the texts of insights say them. Pure functions.
namespace gpufl::analysis::words {

struct Step {
  double size;
  std::string_view unit;
};
// Four digits that matter, in the largest unit of which there is at least one.
std::string scaled(double value, std::span<const Step> steps);

std::string time(double ns);         // "412 ns", "12.34 ms", "3.20 min"
std::string brief_time(double ns);   // "73.58s", "4.20ms": how lines that wait are told
std::string bytes(double count);     // "1.500 MiB"
std::string percent(double share);   // 0.95: "95.0%"
std::string count(uint64_t number);  // "1,234"
// "3 waits", "1 wait", "2 copies", "5 launches"
std::string plural(uint64_t number, std::string_view noun);
// "train.py:90"; without a line what the site says of itself.
std::string line_of(const CodeSite& site);

}  // namespace gpufl::analysis::words
