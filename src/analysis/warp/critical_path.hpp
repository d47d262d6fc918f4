// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/warp/warp_capture.hpp"

// What the length of a block's run is made of, across its groups. From the last record back: work
// is on the path as long as it took; a wait leads to the group that ended it, by the flows that the
// capture declares (the same payload: stage and phase), and is on the path itself only from then
// on, or where nothing tells what ended it. All blocks added up. n log n in the spans.
namespace gpufl::analysis {

struct PathPart {
  static constexpr uint32_t kBetween = UINT32_MAX;  // no event: nothing was open
  uint32_t group = 0, event = 0;
  int64_t length_ns = 0;
};

struct CriticalPath {
  int64_t length_ns = 0;        // of all blocks
  std::vector<PathPart> parts;  // longest first; they add up to it
  uint64_t released = 0;        // waits on it that another group ended
  uint64_t unexplained = 0;     // waits on it of which nothing tells what ended them

  double share(int64_t part_ns) const {
    return length_ns == 0 ? 0 : static_cast<double>(part_ns) / static_cast<double>(length_ns);
  }
  int64_t group_ns(uint32_t group) const;
};
CriticalPath critical_path(const WarpCapture& capture);

}  // namespace gpufl::analysis
