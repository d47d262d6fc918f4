// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "format/batch_codec.hpp"
#include "index/id_set.hpp"
#include "index/row_events.hpp"
#include "index/window_index.hpp"

// Makes the index of a window from its lines, in the order of the file and as they come, so that
// one that is still written can be followed. Memory: bounded by what kMaxBuckets, kMaxKept and
// kMaxTracks say, and is_full(), whatever the lines are. One thread.
namespace gpufl::index {

class IndexBuilder {
 public:
  explicit IndexBuilder(CarriedState before = {});
  ~IndexBuilder();
  IndexBuilder(const IndexBuilder&) = delete;
  IndexBuilder& operator=(const IndexBuilder&) = delete;

  void add_line(std::string_view line, const format::LinePlace& place);

  // The rest of the window cannot be read.
  void set_problem(std::string why) { index_.problem = std::move(why); }

  // What is known so far; lanes of it have no levels: lane() has their buckets.
  WindowIndex snapshot() const;
  // By place in snapshot().lanes, which may have grown since.
  Lane& lane(size_t number) { return *lanes_[number].lane; }
  size_t lane_count() const { return lanes_.size(); }
  uint64_t lines() const { return index_.lines; }
  uint64_t rows() const { return rows_seen_; }  // of batches
  // It has taken as much as an index may hold.
  bool is_full() const;

 private:
  struct Track {
    TrackRows rows;
    std::vector<uint32_t> lanes;  // by row: number + 1; 0: none yet
  };
  struct LaneOfTrack {
    uint32_t track, row;
    std::unique_ptr<Lane> lane;
  };

  void add_object(format::Kind kind, std::string_view line);
  void add_batch(const format::Batch& batch, const format::LinePlace& place);
  void add_events(const TrackEvents& track, IndexedBatch& entry);
  Lane::Widest widest_of(TrackKind kind, int64_t first, int64_t last);
  void add_sizes(const format::Batch& batch);
  void follow_scopes(const format::Batch& batch);
  void define_configs(std::string_view line);
  std::optional<uint32_t> track_number(const TrackKey& key);
  Lane& lane_of(uint32_t track, uint32_t row);
  void bound_memory();

  WindowIndex index_;
  std::vector<Track> tracks_;  // as index_.tracks
  std::unordered_map<TrackKey, uint32_t, TrackKeyHash> track_numbers_;
  std::vector<LaneOfTrack> lanes_;
  format::BatchCodec codec_;
  std::vector<std::unique_ptr<format::Batch>> batches_;  // by kind: memory for decoding
  RowEvents rows_;
  std::array<TimeSpan, kTrackKinds> spans_;  // of starts
  std::vector<int64_t> late_ends_;
  IdSet ended_scopes_;  // of this window
  uint64_t rows_seen_ = 0;
  size_t states_ = 0;  // ends of rows that batches keep
  size_t kept_ = 0;
  size_t object_bytes_ = 0;
  uint32_t density_ = 1;  // by how much buckets are wider than they would be, to stay in bounds
};

}  // namespace gpufl::index
