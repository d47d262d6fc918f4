// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/math/stats.hpp"
#include "index/bytes.hpp"
#include "index/count_table.hpp"
#include "index/track.hpp"

// How often each duration occurred, for each name of each kind of track. Exact while there are few
// distinct ones, which is what a GPU's clock makes of them; then in classes that are 1/64 of their
// value wide. Merging several of them gives what one of all events would have given, or classes
// where one of them has classes. One thread.
namespace gpufl::index {

struct DurationStats {
  analysis::Stats stats;
  double relative_error = 0;  // of median, p90 and p99; 0: they are exact
};

class Durations {
 public:
  void add(TrackKind kind, uint32_t name, int64_t duration_ns) {
    const uint64_t key = (static_cast<uint64_t>(kind) << 32) | name;
    // Kernels of one configuration come in a row, and so do their durations.
    if (key != last_key_ || last_ == nullptr) {
      last_ = &names_[key];
      last_key_ = key;
    }
    add_to(*last_, duration_ns);
  }
  // Of all these names together; nothing of those that did not occur.
  DurationStats of(TrackKind kind, std::span<const uint32_t> names) const;
  uint64_t events(TrackKind kind, uint32_t name) const;
  // There are as many names as an index may have.
  bool is_full() const;
  // Every kind and name there is; of one kind.
  std::vector<std::pair<TrackKind, uint32_t>> names() const;
  std::vector<uint32_t> names(TrackKind kind) const;

  void write(ByteWriter& out) const;
  static Durations read(ByteReader& in);
  // Of some thousand distinct ones each.
  void merge(const Durations& other);

 private:
  struct Counter {
    uint64_t events = 0, total_ns = 0;
    int64_t min_ns = INT64_MAX, max_ns = 0;
    bool is_exact = true;
    CountTable counts;
  };
  void add_to(Counter& counter, int64_t duration_ns);
  static void make_classes(Counter& counter);
  static void add_all(const Counter& from, Counter& to);

  std::map<uint64_t, Counter> names_;
  size_t distinct_ = 0;  // durations of all names
  uint64_t last_key_ = 0;
  Counter* last_ = nullptr;
};

// The middle of the class that a duration is in.
int64_t duration_class(int64_t duration_ns);

}  // namespace gpufl::index
