// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "format/schema.hpp"
#include "index/track.hpp"
#include "index/window_source.hpp"

// Any stretch of a session's timeline as a picture of some width: what happened in each step of
// time, or, where few things did, each of them. Reads what the picture needs and nothing else.
// Pure functions over constant windows; any thread.
namespace gpufl::index {

using Windows = std::vector<std::shared_ptr<const WindowSource>>;

// Steps and events of a tile: 40 bytes each.
inline constexpr size_t kMaxTileEntries = 1'000'000;

struct TileRequest {
  int64_t from = 0, to = 0;  // [from, to)
  uint32_t width = 1;        // steps of time are at most (to - from) / width long
  std::vector<TrackKey> tracks;
  size_t max_events = 2000;  // of a row; where there are more, they are summed up
  std::function<bool()> is_cancelled = nullptr;
};

// Which row of the log an event is.
struct EventPlace {
  format::Channel channel = format::Channel::Device;
  uint64_t window = 0;
  uint32_t line = 0, row = 0;
};

struct TileEvent {
  int64_t start = 0, end = 0;
  uint32_t name = 0;     // as Bucket::top
  bool is_open = false;  // it has not ended; `end` is what is known
  EventPlace place;
};

// An event that an index kept, and one of a batch that was read: the same of the same event.
TileEvent shown_event(const WindowSource& window, const KeptEvent& kept);
TileEvent shown_event(const WindowSource& window, const IndexedBatch& batch, uint32_t track,
                      const Event& event);

// One row of a track: either events or steps.
struct TileRow {
  uint32_t row = 0;
  bool is_exact = false;
  std::vector<TileEvent> events;  // by start; those that reach into the range
  unsigned shift = 0;             // of steps: each is 2^shift ns long; at least the tile's
  std::vector<Bucket> steps;      // by number, without empty ones
};

struct TileTrack {
  TrackKey key;
  std::vector<TileRow> rows;
};

struct Tile {
  // Steps begin at whole multiples of 2^shift, so that neighbours fit and nothing is counted twice.
  unsigned shift = 0;
  std::vector<TileTrack> tracks;  // as asked for, each once
  uint64_t rows_read = 0;         // that had to be decoded
};

// `open_until`: what is known to be open reaches there. InvalidArgument: the request makes no
// sense. Unavailable: a file changed meanwhile; Cancelled.
base::Result<Tile> make_tile(const Windows& windows, const TileRequest& request,
                             int64_t open_until);

// Scopes that had begun and not ended where the log ends, each with its track and row.
struct OpenEvent {
  uint32_t depth = 0;
  TileEvent event;
};
std::vector<std::pair<TrackKey, OpenEvent>> open_scopes(const Windows& windows, int64_t until);

// InvalidArgument: [from, to) is no range within kMaxTime.
base::Status check_range(int64_t from, int64_t to);

// In the same order, without those that are there already.
std::vector<TrackKey> each_once(std::span<const TrackKey> tracks);

// The step of a request: the longest power of two that is not longer than (to - from) / width.
unsigned step_shift(int64_t from, int64_t to, uint32_t width);

}  // namespace gpufl::index
