// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/warp/warp_capture.hpp"

// One block's lanes as stretches of time, and which ends in other lanes its waits waited for, by
// the flows that the capture declares. Made for one block after the other: n log n in its spans.
// The capture must outlive it.
namespace gpufl::analysis {

// A stretch of a lane in which this span is the innermost one. Waits that took no time have one
// too: they depend on others all the same.
struct Segment {
  int64_t start = 0, end = 0;
  size_t span = 0;  // of WarpCapture::spans
};

struct Release {
  size_t lane = 0;  // of WarpCapture::lanes
  int64_t time = 0;
};

class BlockFlow {
 public:
  explicit BlockFlow(const WarpCapture& capture);

  void start_block(size_t first, size_t last);
  size_t first() const { return first_; }
  size_t last() const { return first_ + segments_.size(); }
  int64_t begin() const { return begin_; }  // of its first lane
  const std::vector<Segment>& segments(size_t lane) const { return segments_[lane - first_]; }

  // Whether the lane goes on from a wait at the end of this segment.
  bool ends_wait(const Segment& segment) const;
  // Of what this wait waits for, the last end in every other lane, latest first.
  const std::vector<Release>& releases_of(const WarpSpan& wait, size_t lane);

 private:
  struct End {
    uint32_t event = 0;
    int64_t payload = 0, time = 0;
    size_t lane = 0;
    auto operator<=>(const End&) const = default;
  };

  void add_last_ends(uint32_t event, int64_t payload, int64_t until, size_t lane);

  const WarpCapture& capture_;
  std::vector<std::vector<uint32_t>> sources_;  // the events that each event waits for
  std::vector<bool> is_source_;
  int64_t slack_ns_ = 0;
  size_t first_ = 0;
  int64_t begin_ = 0;
  std::vector<std::vector<Segment>> segments_;  // by lane of the block
  std::vector<End> ends_;                       // of what is waited for
  std::vector<Release> releases_;
};

}  // namespace gpufl::analysis
