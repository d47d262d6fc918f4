// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/warp/warp_figures.hpp"

// What differs between the insides of the same kernels in two sessions, by group and event. Pure
// functions.
namespace gpufl::analysis {

// What a mean may differ from one run to the next without anything having changed.
inline constexpr double kWarpRunToRun = 0.005;

struct WarpChange {
  std::string kernel, group, event;
  uint64_t count_a = 0, count_b = 0;  // ranges, of all captures of the kernel
  double mean_a = 0, mean_b = 0;      // their length; 0 where there are none
  double path_a = 0, path_b = 0;      // share of the critical path
  double noise_ns = 0;                // by how much means of the same program may differ

  double change_ns() const { return mean_b - mean_a; }
  bool is_on_both() const { return count_a > 0 && count_b > 0; }
  bool is_beyond_noise() const;
};

// Of kernels that both have captures of. Those beyond the noise first, by how much time they take
// more or less in all; then the others.
std::vector<WarpChange> warp_changes(std::span<const WarpFigures> a,
                                     std::span<const WarpFigures> b);

}  // namespace gpufl::analysis
