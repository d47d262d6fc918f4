// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/insights/insight.hpp"
#include "analysis/insights/session_view.hpp"

// What launches of one kernel with one configuration take of a session, and how they fill the GPU.
namespace gpufl::analysis {

// Launches of some kind on one GPU.
struct DeviceTime {
  int64_t device = -1;
  uint64_t launches = 0;
  // Of the time in which kernels ran on it: what runs side by side shares it, so that no GPU has
  // more than the session's time.
  double time_ns = 0;
  size_t longest_row = 0;  // of the launch that takes longest
};
// GPUs work at the same time, so that what a session would save is what the one saves that takes
// the longest.
struct LongestTime : DeviceTime {
  size_t devices = 0;  // that have such launches
};
// By id of Tables::config, and by id of Tables::names (all ids are within); of launches that the
// view selects.
std::vector<LongestTime> times_by_config(const SessionView& view);
std::vector<LongestTime> times_by_name(const SessionView& view);

struct KernelUse {
  const KernelGroup* group = nullptr;
  const LaunchConfig* config = nullptr;
  std::string label;  // the kernel's short name
  LongestTime longest;
  double share = 0;  // of the session's time
  // Blocks that the GPU holds at once; none: the session does not tell.
  std::optional<int64_t> compute_units, blocks_at_once;
};
// Those that take at least this share of the session's time, most time first; empty where the
// overview has no groups by configuration.
std::vector<KernelUse> kernel_uses(const SessionView& view, double min_share);

// The launch to look at: when it ran, and for how long.
void add_launch(const SessionView& view, size_t kernel_row, Evidence& evidence);
// How often it ran, and its longest launch.
Evidence at_kernel(const SessionView& view, const KernelUse& use);
// "grid 64x1x1, block 256x1x1"
std::string shape_text(const LaunchConfig& config);

}  // namespace gpufl::analysis
