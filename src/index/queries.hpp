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
// between two moments, where a name occurs next. Each reads what its answer needs. Pure functions
// over constant windows; any thread.
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

// Of a range: events that begin in it, those that began before it and reach into it, and the time
// within it that both take. What has not ended reaches to `open_until`, here and below.
struct NameSum {
  uint32_t name = 0;  // a label of the track's kind
  uint64_t count = 0, reaching = 0, busy_ns = 0;
};
struct TrackSum {
  TrackKey key;
  uint64_t count = 0, reaching = 0, busy_ns = 0;
  std::vector<NameSum> names;  // most time first
  // False: the range holds so much that names are those of parts of it only.
  bool has_all_names = true;
};
// Each track once. InvalidArgument: the range [from, to) makes no sense. LimitReached: it holds too
// much at its ends.
base::Result<std::vector<TrackSum>> sum_range(const Windows& windows,
                                              std::span<const TrackKey> tracks, int64_t from,
                                              int64_t to, int64_t open_until,
                                              const Cancelled& is_cancelled);

struct FoundEvent {
  TrackKey key;
  uint32_t row = 0;
  TileEvent event;
};
struct EventsRequest {
  std::vector<TrackKey> tracks;
  int64_t from = 0, to = 0;  // [from, to): events that are in it or reach into it
  // Of those, the ones that begin then or later: on the first page all, then EventPage::next.
  int64_t starts_from = INT64_MIN;
  size_t most = 1000;
  // Only events that are called so, of tracks whose labels are ids of names; empty: all.
  std::vector<uint32_t> labels = {};
};
// In the order of their starts, so those that began before the range come first.
struct EventPage {
  std::vector<FoundEvent> events;
  std::optional<int64_t> next;  // `starts_from` of the next page; none: this is the last
};
// All that begin at the same moment are on one page, so it may have a few more than `most`; where
// a lot had to be looked through it may have fewer, even none. InvalidArgument: the range makes no
// sense. LimitReached: too much reaches into it.
base::Result<EventPage> list_events(const Windows& windows, const EventsRequest& request,
                                    int64_t open_until, const Cancelled& is_cancelled);

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
                                   int64_t open_until, const Cancelled& is_cancelled);

}  // namespace gpufl::index
