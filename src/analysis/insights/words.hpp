// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/stacks.hpp"

// Numbers and places as the texts of insights say them. Pure functions.
namespace gpufl::analysis::words {

std::string time(double ns);         // "73.58s", "4.20ms", "12.5us", "640ns"
std::string bytes(double count);     // "1.5 MiB"
std::string percent(double share);   // 0.95: "95.0%"
std::string count(uint64_t number);  // "1,234"
// "3 waits", "1 wait", "2 copies", "5 launches"
std::string plural(uint64_t number, std::string_view noun);
// "train.py:90"; without a line what the site says of itself.
std::string line_of(const CodeSite& site);

}  // namespace gpufl::analysis::words
