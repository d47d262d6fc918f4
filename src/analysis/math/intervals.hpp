// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

// Sets of points in time: half-open intervals, sorted, none touching another. All linear in the
// sizes of what they are given.
namespace gpufl::analysis {

struct Interval {
  int64_t start = 0, end = 0;
  int64_t length() const { return end - start; }
  bool operator==(const Interval&) const = default;
};
using Intervals = std::vector<Interval>;

// Adds [start, end), which begins no earlier than any added before it; empty ones are left out.
inline void add_in_order(Intervals& set, int64_t start, int64_t end) {
  if (end <= start) return;
  if (!set.empty() && start <= set.back().end) {
    if (end > set.back().end) set.back().end = end;
  } else {
    set.push_back({start, end});
  }
}
int64_t total_length(const Intervals& set);
Intervals unite(const Intervals& a, const Intervals& b);
Intervals intersect(const Intervals& a, const Intervals& b);
Intervals subtract(const Intervals& a, const Intervals& b);
Intervals clip(const Intervals& set, Interval window);

}  // namespace gpufl::analysis
