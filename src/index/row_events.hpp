// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "format/batch.hpp"
#include "index/track.hpp"

// The rows of one batch as events on tracks: the one place that says which column is what. Those
// who build an index and those who read the same batch again later get the same. One thread; reuse
// one for its memory.
namespace gpufl::index {

// Times are cut to this, so that sums of two cannot overflow.
inline constexpr int64_t kMaxTime = int64_t{1} << 61;

struct Event {
  int64_t start = 0, end = 0;
  uint32_t row = 0;    // of the batch
  uint32_t name = 0;   // what it is: an id that the kind of its track decides (label_dict())
  uint32_t depth = 0;  // scopes around it, where the log says so
};

// Where an event ends that is in a range: without a length it is in the one in which it happened.
constexpr int64_t reach_of(int64_t start, int64_t end) { return end > start ? end : start + 1; }

// The events of one track in a batch.
class TrackEvents {
 public:
  TrackKey key;

  // By start; at the same start the longer one first.
  std::span<const Event> events() const { return {events_.data(), count_}; }

  void begin(const TrackKey& of) {
    key = of;
    count_ = 0;
    is_in_order_ = true;
  }
  void add(const Event& event) {
    if (count_ == events_.size()) events_.resize(std::max<size_t>(64, 2 * count_));
    if (count_ > 0 && events_[count_ - 1].start >= event.start) is_in_order_ = false;
    events_[count_++] = event;
  }
  void finish();

 private:
  std::vector<Event> events_;  // the first `count_`; the others keep their memory
  size_t count_ = 0;
  bool is_in_order_ = true;  // each begins after the one before
};

class RowEvents {
 public:
  // Good until the next call. Calls with the same span are one event, of the first of their rows.
  std::span<const TrackEvents> read(const format::Batch& batch);
  // What the last call gave.
  std::span<const TrackEvents> events() const { return {tracks_.data(), used_}; }

 private:
  void read_work(const format::Batch& batch, TrackKind track, size_t name_column);
  void read_calls(const format::Batch& batch, TrackKind track);
  void read_spans(const format::Batch& batch, TrackKind track, size_t name_column);
  void read_warps(const format::Batch& batch);
  void add(const TrackKey& key, int64_t start, int64_t duration, size_t row, int64_t name,
           int64_t depth = 0);
  TrackEvents& events_of(const TrackKey& key);
  void make_room();

  std::vector<TrackEvents> tracks_;  // the first `used_`
  size_t used_ = 0;
  std::vector<uint32_t> slots_;  // a hash table of them: number + 1; 0: free
};

// What `Event::name` is an id of; None: it is a number that stands for itself.
format::Dict label_dict(TrackKind kind);
// Whether batches of the kind have events, and which kind of batch those of a track come from.
bool has_events(format::Kind kind);
format::Kind source_of(TrackKind kind);

}  // namespace gpufl::index
