// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "index/row_events.hpp"
#include "index/track.hpp"

// Which row of its track an event is drawn in: the first at or below its depth in which nothing
// reaches into it. Depends on the events before it alone, so whoever goes on from the same state
// finds the same rows. Plain data.
namespace gpufl::index {

struct TrackRows {
  std::vector<int64_t> ends;  // of the last event of each row
  // The last call, which later batches may repeat for further rows that it brought.
  int64_t call_start = -1, call_end = -1;

  // The row; kMaxRows: none of them had room.
  uint32_t place(const Event& event) {
    for (uint32_t row = event.depth; row < kMaxRows; ++row) {
      if (row >= ends.size()) ends.resize(row + 1, INT64_MIN);
      if (ends[row] <= event.start) {
        ends[row] = event.end;
        return row;
      }
    }
    return kMaxRows;
  }
  // The calls of a batch, without the first where it is the last one again.
  std::span<const Event> begin_calls(std::span<const Event> calls) {
    const bool is_repeated = calls.front().start == call_start && calls.front().end == call_end;
    call_start = calls.back().start;
    call_end = calls.back().end;
    return is_repeated ? calls.subspan(1) : calls;
  }

  // Nothing of it matters to events that begin at `start` or later.
  bool is_over(int64_t start) const {
    return call_start < start &&
           std::all_of(ends.begin(), ends.end(), [&](int64_t end) { return end <= start; });
  }
};

}  // namespace gpufl::index
