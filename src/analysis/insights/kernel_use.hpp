// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/insight.hpp"
#include "analysis/insights/session_view.hpp"

// What launches of one kernel with one configuration take of a session, and how they fill the GPU.
namespace gpufl::analysis {

struct KernelUse {
  const KernelGroup* group = nullptr;
  const LaunchConfig* config = nullptr;
  std::string label;    // the kernel's short name
  int64_t device = -1;  // of its first launch
  // Of the time in which kernels ran: what runs side by side shares it.
  double time_ns = 0;
  double share = 0;  // of the session's time
  // Blocks that the GPU holds at once; none: the session does not tell.
  std::optional<int64_t> sm_count, blocks_at_once;
};
// Most time first; empty where the overview has no groups by configuration.
std::vector<KernelUse> kernel_uses(const SessionView& view);

Evidence at_kernel(const KernelUse& use, std::string text);
// "grid 64x1x1, block 256x1x1"
std::string shape_text(const LaunchConfig& config);

}  // namespace gpufl::analysis
