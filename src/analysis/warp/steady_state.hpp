// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/math/stats.hpp"
#include "analysis/warp/warp_capture.hpp"

// How long an iteration of a group's loop takes once the pipeline is full: from one start of the
// event that marks it to the next, without those at both ends of each lane. Linear in the spans.
namespace gpufl::analysis {

struct SteadyState {
  uint32_t group = 0;  // of WarpCapture::groups
  uint32_t event = 0;  // that marks an iteration: the first of those that come once in each
  Stats iteration_ns;
  uint64_t left_out = 0;  // iterations at the ends
};
// Of the groups that repeat something at least kMinLoopIterations times in a lane.
std::vector<SteadyState> steady_states(const WarpCapture& capture);
inline constexpr size_t kMinLoopIterations = 6;

}  // namespace gpufl::analysis
