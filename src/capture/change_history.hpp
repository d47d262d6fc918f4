// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

// A value over time, of which the newest changes are kept. Before its first change it is 0. One
// thread. A question costs a comparison when it lies where the last one did, a step or two when
// questions come nearly in order, and a binary search otherwise.
namespace gpufl::capture {

class ChangeHistory {
 public:
  // Changes that all histories of an owner may hold beyond the first kFirst of each.
  using Budget = size_t;
  static constexpr size_t kFirst = 16;
  // While there is budget, what is younger than this is not forgotten.
  static constexpr int64_t kKeepNs = 10'000'000'000;

  explicit ChangeHistory(Budget& budget) : budget_(&budget) {}
  ~ChangeHistory() {
    if (changes_.size() > kFirst) *budget_ += changes_.size() - kFirst;
  }
  ChangeHistory(const ChangeHistory&) = delete;
  ChangeHistory& operator=(const ChangeHistory&) = delete;

  // From `time_ns` on the value is `value`. A change that comes late is put where it belongs: it
  // holds until the next one that is known.
  void add(int64_t time_ns, int64_t value);
  // Nothing when that has been forgotten.
  std::optional<int64_t> at(int64_t time_ns) {
    if (time_ns >= known_from_ns_ && time_ns < known_until_ns_) return known_value_;
    return search(time_ns);
  }
  // Whether it was anything but `value` within [begin_ns, end_ns). Nothing when the begin has been
  // forgotten.
  std::optional<bool> differs(int64_t begin_ns, int64_t end_ns, int64_t value);
  int64_t last_change_ns() const { return size_ == 0 ? kNever : change(size_ - 1).time_ns; }

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
  struct Change {
    int64_t time_ns;
    int64_t value;
  };

  const Change& change(size_t i) const { return changes_[(first_ + i) & (changes_.size() - 1)]; }
  Change& change(size_t i) { return changes_[(first_ + i) & (changes_.size() - 1)]; }
  std::optional<int64_t> search(int64_t time_ns);
  void make_room(int64_t now_ns);
  bool grow();

  Budget* const budget_;
  std::vector<Change> changes_;  // a ring; its size is a power of two, or zero
  size_t first_ = 0, size_ = 0;
  bool has_forgotten_ = false;
  size_t last_found_ = 0;
  // Where the value is known without a search: the last answer.
  int64_t known_from_ns_ = 0, known_until_ns_ = 0, known_value_ = 0;
};

}  // namespace gpufl::capture
