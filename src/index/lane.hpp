// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "index/row_events.hpp"

// One row of a track within a window: its events as buckets of time, whose width follows how dense
// they are. What a bucket holds too little of, or what spans many of them, is kept as it is. Every
// event is in one of the two. Memory: some bytes for every eighth event. One thread.
namespace gpufl::index {

inline constexpr unsigned kLevelShift = 3;  // a bucket of a level is eight of the level below

struct Bucket {
  int64_t at = 0;      // its number: time >> shift
  uint64_t count = 0;  // events that begin in it
  uint64_t busy = 0;   // nanoseconds of it in which one ran
  uint32_t top = 0;    // the name with the most of that time; of merged ones nearly so
  uint64_t top_busy = 0;

  void merge(const Bucket& other);
};

// An event that is kept as it is, with where to find all of it.
struct KeptEvent {
  int64_t start = 0, end = 0;
  uint32_t name = 0;
  uint32_t line = 0, row = 0;  // of its window, from 1; of its batch, from 0
};

class Lane {
 public:
  // `events_per_bucket`: at least so many on average.
  explicit Lane(uint32_t events_per_bucket) : events_per_bucket_(events_per_bucket) {}

  // Where an event that buckets are too narrow for goes, or one that nobody finds by its batch.
  enum class Keep : uint8_t {
    IfLong,
    Always,  // as it is, whatever its length
    Never,   // buckets grow until it fits
  };
  struct Widest {
    unsigned shift = 63;              // of buckets, but for what events need
    uint64_t events_as_they_are = 0;  // lanes with no more have no buckets
  };
  // Roughly in the order of their starts.
  void add(const Event& event, uint32_t name, uint32_t line, Keep keep, const Widest& widest);
  // Half as many buckets from now on.
  void halve() {
    events_per_bucket_ *= 2;
    coarsen();
  }

  bool has_buckets() const { return has_buckets_; }
  unsigned shift() const { return shift_; }
  // By number. Names of the last one are settled by then.
  const std::vector<Bucket>& buckets();
  const std::vector<KeptEvent>& kept() const { return kept_; }
  uint64_t events() const { return events_; }
  uint64_t busy() const { return busy_; }
  int64_t first() const { return first_; }
  int64_t last() const { return last_; }  // end of the one that ends last
  size_t bucket_count() const { return buckets_.size(); }

 private:
  struct NameTime {
    uint32_t name;
    uint64_t busy;
  };
  bool fits_buckets(int64_t start, int64_t end) const;
  void add_to_buckets(int64_t start, int64_t end, uint32_t name);
  void add_to_bucket(int64_t at, uint64_t count, uint64_t busy, uint32_t name);
  void begin_buckets(const Widest& widest);
  void coarsen();
  void settle_top();
  void sort_in_late();

  uint32_t events_per_bucket_;
  unsigned shift_ = 0;
  bool has_buckets_ = false;
  uint64_t events_ = 0, busy_ = 0;
  int64_t first_ = INT64_MAX, last_ = INT64_MIN;
  std::vector<Bucket> buckets_;
  std::vector<Bucket> late_;         // parts of buckets before the last one
  std::vector<NameTime> top_names_;  // of the last bucket, since it was looked at
  bool is_top_known_ = false;        // of that bucket
  std::vector<KeptEvent> kept_;
  size_t apart_ = 0;  // of `kept_`, from the first: those that stay there
};

// The next level: eight buckets become one.
std::vector<Bucket> level_above(const std::vector<Bucket>& buckets);

}  // namespace gpufl::index
