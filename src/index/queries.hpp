// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "index/durations.hpp"
#include "index/tile.hpp"

// What else people ask of a timeline: which tracks there are, what takes the time, what lies
// between two moments, where a name occurs next, what the log has of one event. Each reads what its
// answer needs. Pure functions over constant windows; any thread.
namespace gpufl::index {

using Cancelled = std::function<bool()>;

struct TrackInfo {
  TrackKey key;
  uint32_t rows = 0;  // that have events; the last may be the one that counts the rest
  uint64_t events = 0, busy_ns = 0;
  TimeSpan span;
};
// By key.
std::vector<TrackInfo> list_tracks(const Windows& windows, int64_t open_until);

// How long everything took, of the whole session.
Durations all_durations(const Windows& windows);

// Events that begin in [from, to), and the time within it that they take.
struct NameSum {
  uint32_t name = 0;  // a label of the track's kind
  uint64_t count = 0, busy_ns = 0;
};
struct TrackSum {
  TrackKey key;
  uint64_t count = 0, busy_ns = 0;
  std::vector<NameSum> names;  // most time first
  // False: the range holds so much that names are those of parts of it only.
  bool has_all_names = true;
};
base::Result<std::vector<TrackSum>> sum_range(const Windows& windows,
                                              std::span<const TrackKey> tracks, int64_t from,
                                              int64_t to, const Cancelled& is_cancelled);

struct FoundEvent {
  TrackKey key;
  uint32_t row = 0;
  TileEvent event;
};
// Events that begin in [from, to), in the order of their starts.
struct EventPage {
  std::vector<FoundEvent> events;
  std::optional<int64_t> next;  // where the next page begins; none: this is the last
};
// All that begin at the same moment are on one page, so it may have a few more than `most`.
// LimitReached: the range holds too much to look through.
base::Result<EventPage> list_events(const Windows& windows, std::span<const TrackKey> tracks,
                                    int64_t from, int64_t to, size_t most,
                                    const Cancelled& is_cancelled);

struct SearchRequest {
  std::vector<uint32_t> names;   // labels; of several kinds of tracks the same number is the same
  std::vector<TrackKind> kinds;  // whose labels are ids of names
  int64_t after = INT64_MIN;     // the first that begins then or later
  bool is_backward = false;      // the last that begins before
};
struct SearchOutcome {
  uint64_t count = 0;  // in the whole session
  std::optional<FoundEvent> found;
};
base::Result<SearchOutcome> search(const Windows& windows, const SearchRequest& request,
                                   const Cancelled& is_cancelled);

// The row of the log as one line of flat JSON (format/flat_row.hpp). NotFound: there is no such
// row; Unavailable: its window changed meanwhile.
base::Result<std::string> read_row(const Windows& windows, const EventPlace& place);

}  // namespace gpufl::index
