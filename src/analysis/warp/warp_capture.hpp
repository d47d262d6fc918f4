// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/math/intervals.hpp"
#include "analysis/tables/tables.hpp"
#include "format/warp_launch.hpp"

// One profiled launch with its spans, lane by lane: what every figure of the inside of a kernel is
// made from. Made from the tables when it is asked for, one launch at a time; some 40 bytes a span.
namespace gpufl::analysis {

inline constexpr int64_t kNoPayload = -1;

struct WarpSpan {
  int64_t start = 0, end = 0;
  int64_t payload = kNoPayload;
  uint32_t event = 0;  // of WarpCapture::events
  format::WarpEnding ending = format::WarpEnding::Normal;

  bool is_range() const { return ending == format::WarpEnding::Normal; }
};

struct WarpLane {  // one group of one block
  int64_t block = 0;
  uint32_t group = 0;          // of WarpCapture::groups
  int64_t sm = -1;             // -1: unknown
  size_t first = 0, last = 0;  // its spans: [first, last)
  Interval extent;             // from its first record to its last
};

struct WarpEventName {
  std::string name;
  bool is_wait = false;
};
struct WarpGroupName {
  int64_t number = 0;
  std::string name;  // "group 3" where the capture does not name it
};

struct WarpCapture {
  format::WarpLaunch launch;
  bool has_line = false;  // else the log lost what is told once, and `launch` is what rows tell
  std::vector<WarpEventName> events;
  std::vector<WarpGroupName> groups;  // by number
  std::vector<WarpLane> lanes;        // by block, then group
  std::vector<WarpSpan> spans;        // of a lane by start; of those, the longest first
  Interval extent;                    // of all lanes

  // How far the length of one range may be off: a tick of the clock, and the cost of a record,
  // which lies within every range.
  double span_error_ns() const;
  // Calls visit(first, last) with the lanes [first, last) of each block.
  template <typename Visit>
  void for_each_block(Visit visit) const {
    for (size_t first = 0; first < lanes.size();) {
      size_t last = first + 1;
      while (last < lanes.size() && lanes[last].block == lanes[first].block) ++last;
      visit(first, last);
      first = last;
    }
  }
};

// Every profiled launch of the session, in order of its number.
void for_each_capture(const Tables& tables, const std::function<void(const WarpCapture&)>& visit);

}  // namespace gpufl::analysis
