// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "analysis/math/intervals.hpp"

// How much of a time each part stands for that was looked at, where there are pauses between the
// parts of which nothing is known. Pure functions, linear in what they are given.
namespace gpufl::analysis {

// What a pause is taken to have been like. None of these is right for every program: how long a
// pause is depends on what the part before it cost, so parts before long pauses are of a kind.
enum class PauseLike : size_t {
  Before,  // the part before it
  Both,    // one half the part before it, the other the part after it
  After,   // the part after it
};
inline constexpr size_t kPauseRules = 3;
using ByPauseRule = std::array<double, kPauseRules>;

// By part: its own time and that of pauses, as each rule has it; all of them add up to the length
// of `whole`. `parts` are sorted by their starts and do not overlap; what they have outside of
// `whole` does not count. What lies before the first part and after the last is theirs.
std::vector<ByPauseRule> time_stood_for(const Intervals& parts, const Intervals& whole);

}  // namespace gpufl::analysis
