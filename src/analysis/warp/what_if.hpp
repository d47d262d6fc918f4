// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "analysis/warp/warp_capture.hpp"

// How long the blocks of a launch would have run had some of their groups been faster: every lane
// is run again, in the order of its records, and waits end when what they waited for does,
// whichever group that is then. So the gain from one group ends where the next becomes the limit.
// What a wait takes beyond its release, waits that nothing explains, and bubbles stay as long as
// they were.
// Linear in the spans for each case, after n log n for all.
namespace gpufl::analysis {

struct WhatIf {
  std::vector<uint32_t> instant_groups = {};  // whose work takes no time
  bool has_no_bubbles = false;                // of any group
};

// Of each case, all blocks added up, as CriticalPath::length_ns is.
std::vector<double> lengths_if(const WarpCapture& capture, std::span<const WhatIf> cases);

}  // namespace gpufl::analysis
