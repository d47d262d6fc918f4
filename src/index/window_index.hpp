// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/schema.hpp"
#include "format/seal.hpp"
#include "index/durations.hpp"
#include "index/lane.hpp"
#include "index/series.hpp"
#include "index/track.hpp"
#include "index/track_rows.hpp"

// What is known of one window without reading it: where its batches stand and when, the lanes of
// its tracks, how long things took. Made by IndexBuilder, kept by index_file.hpp; constant then.
namespace gpufl::index {

inline constexpr uint32_t kIndexVersion = 4;

// Which window it is of. Anything that differs makes the index another one's.
struct WindowIdentity {
  std::string session_id, channel;
  uint64_t number = 0, bytes = 0;
  int64_t modified_ns = 0;
  std::string hash;  // of the manifest; empty: it has none

  bool operator==(const WindowIdentity&) const = default;
};

// First and last time; empty: there is none.
struct TimeSpan {
  int64_t first = INT64_MAX, last = INT64_MIN;

  bool empty() const { return first > last; }
  void include(int64_t from, int64_t to) {
    first = std::min(first, from);
    last = std::max(last, to);
  }
  // Whether something in it may reach into [from, to).
  bool reaches(int64_t from, int64_t to) const { return !empty() && first < to && last >= from; }
};

// The state of a track before a batch, by its number in WindowIndex::tracks.
struct RowsBefore {
  uint32_t track = 0;
  TrackRows rows;
};

struct IndexedBatch {
  format::Kind kind = format::Kind::Kernel;
  uint32_t line = 0;  // from 1
  uint32_t rows = 0;
  format::LinePlace place;
  TimeSpan work, calls;            // of its rows and of the calls behind them, without kept events
  std::vector<RowsBefore> before;  // only what reaches into it
};

// Where a level of a lane's buckets stands in the index file.
struct BucketBlock {
  uint64_t offset = 0;  // in the file
  uint32_t bytes = 0, buckets = 0;
  int64_t first = 0, last = 0;  // numbers of its buckets
};

struct IndexedLane {
  uint32_t track = 0;  // number in WindowIndex::tracks
  uint32_t row = 0;
  bool has_buckets = false;  // else all its events are kept as they are
  unsigned shift = 0;        // of level 0
  uint64_t events = 0, busy = 0;
  TimeSpan span;
  std::vector<KeptEvent> kept;
  std::vector<std::vector<BucketBlock>> levels;  // of an index on disk
};

// A scope that has begun and not ended.
struct OpenScope {
  int64_t start = 0, thread = 0;
  uint32_t name = 0, tag = 0, depth = 0;
};

// What one window leaves to the next of its channel.
struct CarriedState {
  std::map<TrackKey, TrackRows> rows;
  std::map<int64_t, OpenScope> open_scopes;  // by id

  uint64_t digest() const;
};

// Of copies or fills with the same name: those whose size the log has.
struct SizeSum {
  uint64_t count = 0, bytes = 0, busy_ns = 0;

  void add(const SizeSum& other) {
    count += other.count;
    bytes += other.bytes;
    busy_ns += other.busy_ns;
  }
};

// Lines that say what was asked for, what happened and how it ended, as the log has them:
// capabilities, devices, events, the ledger, the end.
struct ObjectLines {
  std::vector<std::string> texts;  // in the order of the file
  uint64_t left_out = 0;           // events beyond the bound
};

struct WindowIndex {
  uint64_t lines = 0;
  TimeSpan span;                          // of all rows and the calls behind them
  int64_t last_row_ns = 0;                // end of the row that ends last, without its call
  std::map<format::Kind, uint64_t> rows;  // by kind, as the ledger counts them
  std::vector<TrackKey> tracks;
  std::vector<IndexedBatch> batches;  // in the order of the file
  std::vector<format::LinePlace> dict_lines;
  std::vector<uint32_t> name_of_config;  // ids of names by those of configurations; 0: none
  std::vector<IndexedLane> lanes;        // by track and row
  Durations durations;
  std::map<std::pair<TrackKind, uint32_t>, SizeSum> sizes;  // by the name that its events have
  SeriesTable series;
  ObjectLines objects;
  uint64_t digest_before = 0;  // of the state that it was begun with
  CarriedState after;
  uint64_t events_left_out = 0;  // of tracks beyond the bound
  uint64_t bad_lines = 0;
  std::string problem;  // why it could not be read to its end; empty: it could

  // What events of a track are called, of which Event::name says which they are.
  uint32_t label_of(TrackKind kind, uint32_t name) const {
    if (label_dict(kind) != format::Dict::Config) return name;
    return name < name_of_config.size() ? name_of_config[name] : 0;
  }
};

}  // namespace gpufl::index
