// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/math/stats.hpp"
#include "analysis/warp/warp_capture.hpp"

// How the groups of a profiled launch spend their time. Linear in the spans.
namespace gpufl::analysis {

struct WarpEventFigures {
  uint32_t event = 0;       // of WarpCapture::events
  Stats duration_ns;        // of its ranges
  double deviation_ns = 0;  // standard deviation of those
  uint64_t instants = 0;
  uint64_t unmatched = 0;  // begins without an end, ends without a begin
  bool is_short = false;   // the error of one range is more than a quarter of the median
};

// Over all lanes of the group. Busy, waiting and bubble make up the extent: while a lane is inside
// of a wait it waits, whatever else is open around it; in a bubble nothing is open at all.
struct WarpGroupFigures {
  uint32_t group = 0;  // of WarpCapture::groups
  uint64_t lanes = 0;
  int64_t extent_ns = 0, busy_ns = 0, wait_ns = 0;
  std::vector<WarpEventFigures> events = {};  // most time first

  int64_t bubble_ns() const { return extent_ns - busy_ns - wait_ns; }
  double share(int64_t part_ns) const {
    return extent_ns == 0 ? 0 : static_cast<double>(part_ns) / static_cast<double>(extent_ns);
  }
};

// How long two groups of a block work at the same time.
struct WarpOverlap {
  uint32_t a = 0, b = 0;  // groups
  int64_t both_ns = 0;
  int64_t extent_ns = 0;  // of blocks that have both: from the first record of the two to the last
};

struct GroupTimes {
  std::vector<WarpGroupFigures> groups;  // as in the capture
  std::vector<WarpOverlap> overlaps;     // of every two of the first kMaxOverlapGroups groups
  static constexpr uint32_t kMaxOverlapGroups = 8;
};
GroupTimes group_times(const WarpCapture& capture);

}  // namespace gpufl::analysis
