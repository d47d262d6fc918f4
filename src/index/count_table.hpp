// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/math/stats.hpp"

// How often each of some numbers that are not negative occurred. A flat table: adding to a number
// that is there takes a few nanoseconds, which every event of a session pays. One thread.
namespace gpufl::index {

class CountTable {
 public:
  void add(int64_t number, uint64_t times = 1) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[find(number)];
    if (slot.count == 0) {
      slot.number = number;
      ++used_;
    }
    slot.count += times;
  }
  size_t size() const { return used_; }

  // By number.
  std::vector<analysis::ValueCount> sorted() const {
    std::vector<analysis::ValueCount> counts;
    counts.reserve(used_);
    for (const Slot& slot : slots_) {
      if (slot.count != 0) counts.push_back({slot.number, slot.count});
    }
    std::sort(counts.begin(), counts.end(),
              [](const auto& one, const auto& other) { return one.value < other.value; });
    return counts;
  }

 private:
  struct Slot {
    int64_t number = 0;
    uint64_t count = 0;  // 0: it is free
  };

  size_t find(int64_t number) const {
    const size_t mask = slots_.size() - 1;
    size_t at = (static_cast<uint64_t>(number) * 0x9e3779b97f4a7c15U >> 32) & mask;
    while (slots_[at].count != 0 && slots_[at].number != number) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    const std::vector<Slot> before = std::move(slots_);
    slots_.assign(std::max<size_t>(16, 2 * before.size()), {});
    for (const Slot& slot : before) {
      if (slot.count != 0) slots_[find(slot.number)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half in use
  size_t used_ = 0;
};

}  // namespace gpufl::index
