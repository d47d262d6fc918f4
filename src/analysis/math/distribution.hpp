// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

// Running figures of a set of values: constant memory, values are seen once and not kept. Not
// thread-safe. Sums are doubles: exact up to 2^53, which is 104 days in nanoseconds.
namespace gpufl::analysis {

struct Distribution {
  uint64_t count = 0;
  double total = 0, min = 0, max = 0;

  // `weight` values that are all `value`.
  void add(double value, uint64_t weight = 1) {
    if (weight == 0) return;
    if (count == 0) min = max = value;
    count += weight;
    total += value * static_cast<double>(weight);
    min = std::min(min, value);
    max = std::max(max, value);
  }

  // As if `other`'s values had been added to this one's.
  void merge(const Distribution& other) {
    if (other.count == 0) return;
    if (count == 0) {
      *this = other;
      return;
    }
    count += other.count;
    total += other.total;
    min = std::min(min, other.min);
    max = std::max(max, other.max);
  }

  double mean() const { return count == 0 ? 0 : total / static_cast<double>(count); }
};

}  // namespace gpufl::analysis
