// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "index/row_events.hpp"
#include "index/window_source.hpp"

// The events of some tracks of one window as the log has them, each in the row of its track that
// it was given when the index was made. One thread.
namespace gpufl::index {

struct WantedTracks {
  std::vector<bool> is_wanted;  // by number in WindowIndex::tracks
  int64_t from = INT64_MIN, to = INT64_MAX;
};

// How many rows would have to be decoded.
uint64_t rows_to_read(const WindowIndex& index, const WantedTracks& wanted);

// `visitor` gets every event of a wanted track in a batch that may reach into the range: the
// track's number, the row in it and the event. False: stop. `lines`: the batches that were read.
using EventVisitor =
    std::function<bool(const IndexedBatch&, uint32_t track, uint32_t row, const Event&)>;
base::Status read_events(const WindowSource& window, const WantedTracks& wanted,
                         const EventVisitor& visitor, std::vector<uint32_t>* lines = nullptr);

// The same of many windows, their batches in the order in which they begin; backward, in which they
// end, last first. For those who look for the first few: the rest is not read.
struct OrderedRead {
  bool is_backward = false;
  // Asked once of each window, before anything of it is read.
  std::function<WantedTracks(const WindowSource&)> enter;
  // Whether events may matter that begin at `moment` or later; backward, then or before. All that
  // is not yet read does. `rows`: that were decoded so far.
  std::function<bool(int64_t moment, uint64_t rows)> is_needed;
  std::function<bool(const WindowSource&, const IndexedBatch&, uint32_t track, uint32_t row,
                     const Event&)>
      visit;
};
base::Status read_in_order(std::span<const std::shared_ptr<const WindowSource>> windows,
                           const OrderedRead& read);

}  // namespace gpufl::index
