// SPDX-License-Identifier: Apache-2.0
#include "index/lane.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace gpufl::index {
namespace {

constexpr size_t kMaxKeptOfFew = 64;      // lanes with fewer events have no buckets
constexpr int64_t kMaxBucketsOfOne = 16;  // of an event that is not kept as it is
constexpr size_t kMinBuckets = 64;
constexpr size_t kMaxLate = 4096;
constexpr unsigned kMaxShift = 60;

void append_merged(std::vector<Bucket>& buckets, const Bucket& bucket) {
  if (!buckets.empty() && buckets.back().at == bucket.at) {
    buckets.back().merge(bucket);
  } else {
    buckets.push_back(bucket);
  }
}

std::vector<Bucket> merged_by(const std::vector<Bucket>& buckets, unsigned shift) {
  std::vector<Bucket> merged;
  merged.reserve(buckets.size() / (size_t{1} << shift) + 1);
  for (Bucket bucket : buckets) {
    bucket.at >>= shift;
    append_merged(merged, bucket);
  }
  return merged;
}

}  // namespace

void Bucket::merge(const Bucket& other) {
  const bool was_empty = count == 0 && busy == 0;
  count += other.count;
  busy += other.busy;
  if (was_empty) {
    top = other.top;
    top_busy = other.top_busy;
  } else if (other.top == top) {
    top_busy += other.top_busy;
  } else if (other.top_busy > top_busy) {
    top = other.top;
    top_busy = other.top_busy;
  }
}

std::vector<Bucket> level_above(const std::vector<Bucket>& buckets) {
  return merged_by(buckets, kLevelShift);
}

void Lane::add(const Event& event, uint32_t name, uint32_t line, Keep keep, const Widest& widest) {
  ++events_;
  busy_ += static_cast<uint64_t>(event.end - event.start);
  first_ = std::min(first_, event.start);
  last_ = std::max(last_, event.end);
  if (keep == Keep::Always) {
    kept_.push_back({event.start, event.end, name, line, event.row});
    std::swap(kept_[apart_++], kept_.back());
    return;
  }
  if (!has_buckets_) {
    kept_.push_back({event.start, event.end, name, line, event.row});
    const uint64_t most = std::max<uint64_t>(kMaxKeptOfFew, widest.events_as_they_are);
    if (kept_.size() - apart_ > most) begin_buckets(widest);
    return;
  }
  while (keep == Keep::Never && shift_ < kMaxShift && !fits_buckets(event.start, event.end))
    coarsen();
  if (!fits_buckets(event.start, event.end)) {
    kept_.push_back({event.start, event.end, name, line, event.row});
    return;
  }
  add_to_buckets(event.start, event.end, name);
  if (buckets_.size() > kMinBuckets && buckets_.size() * events_per_bucket_ > events_ &&
      shift_ < widest.shift) {
    coarsen();
  }
}

bool Lane::fits_buckets(int64_t start, int64_t end) const {
  return (end >> shift_) - (start >> shift_) <= kMaxBucketsOfOne;
}

// As wide as the events so far ask for.
void Lane::begin_buckets(const Widest& widest) {
  has_buckets_ = true;
  const std::vector<KeptEvent> events(kept_.begin() + static_cast<std::ptrdiff_t>(apart_),
                                      kept_.end());
  kept_.resize(apart_);
  int64_t first = INT64_MAX;
  int64_t last = INT64_MIN;
  for (const KeptEvent& event : events) {
    first = std::min(first, event.start);
    last = std::max(last, event.start);
  }
  const uint64_t width =
      static_cast<uint64_t>(last - first) / events.size() * events_per_bucket_ / 2 + 1;
  shift_ =
      std::min(static_cast<unsigned>(std::bit_width(width)), std::min(widest.shift, kMaxShift));
  for (const KeptEvent& event : events) {
    if (fits_buckets(event.start, event.end)) {
      add_to_buckets(event.start, event.end, event.name);
    } else {
      kept_.push_back(event);
    }
  }
}

void Lane::add_to_buckets(int64_t start, int64_t end, uint32_t name) {
  int64_t at = start >> shift_;
  uint64_t count = 1;
  while (true) {
    const int64_t next = (at + 1) << shift_;
    const int64_t part = std::min(end, next) - start;
    add_to_bucket(at, count, static_cast<uint64_t>(part), name);
    if (end <= next) return;
    start = next;
    count = 0;
    ++at;
  }
}

void Lane::add_to_bucket(int64_t at, uint64_t count, uint64_t busy, uint32_t name) {
  if (buckets_.empty() || at > buckets_.back().at) {
    settle_top();
    buckets_.push_back({.at = at});
    is_top_known_ = false;
  } else if (at < buckets_.back().at) {
    late_.push_back({at, count, busy, name, busy});
    if (late_.size() > kMaxLate) sort_in_late();
    return;
  }
  buckets_.back().count += count;
  buckets_.back().busy += busy;
  for (NameTime& known : top_names_) {
    if (known.name == name) {
      known.busy += busy;
      return;
    }
  }
  top_names_.push_back({name, busy});
}

void Lane::settle_top() {
  if (buckets_.empty()) return;
  Bucket& bucket = buckets_.back();
  for (const NameTime& time : top_names_) {
    const bool is_first = !is_top_known_;
    is_top_known_ = true;
    if (!is_first && time.name == bucket.top) {
      bucket.top_busy += time.busy;  // what came after a look at a window that is still written
    } else if (is_first || time.busy > bucket.top_busy) {
      bucket.top = time.name;
      bucket.top_busy = time.busy;
    }
  }
  top_names_.clear();
}

void Lane::sort_in_late() {
  if (late_.empty()) return;
  settle_top();
  std::stable_sort(late_.begin(), late_.end(),
                   [](const Bucket& a, const Bucket& b) { return a.at < b.at; });
  std::vector<Bucket> all;
  all.reserve(buckets_.size() + late_.size());
  auto late = late_.begin();
  for (const Bucket& bucket : buckets_) {
    for (; late != late_.end() && late->at < bucket.at; ++late) append_merged(all, *late);
    append_merged(all, bucket);
  }
  buckets_ = std::move(all);
  late_.clear();
}

void Lane::coarsen() {
  sort_in_late();
  settle_top();
  if (shift_ >= kMaxShift) return;
  ++shift_;
  buckets_ = merged_by(buckets_, 1);
}

const std::vector<Bucket>& Lane::buckets() {
  sort_in_late();
  settle_top();
  return buckets_;
}

}  // namespace gpufl::index
