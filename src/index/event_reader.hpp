// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
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

}  // namespace gpufl::index
