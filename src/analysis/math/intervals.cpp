// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/intervals.hpp"

#include <algorithm>

#include "analysis/math/saturating.hpp"

namespace gpufl::analysis {

int64_t total_length(const Intervals& set) {
  int64_t total = 0;
  for (const Interval& one : set) {
    total = saturating_add(total, saturating_subtract(one.end, one.start));
  }
  return total;
}

Intervals unite(const Intervals& a, const Intervals& b) {
  Intervals out;
  out.reserve(a.size() + b.size());
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    const bool is_left = right == b.end() || (left != a.end() && left->start <= right->start);
    const Interval& next = is_left ? *left++ : *right++;
    add_in_order(out, next.start, next.end);
  }
  return out;
}

Intervals intersect(const Intervals& a, const Intervals& b) {
  Intervals out;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    add_in_order(out, std::max(left->start, right->start), std::min(left->end, right->end));
    if (left->end < right->end) {
      ++left;
    } else {
      ++right;
    }
  }
  return out;
}

Intervals subtract(const Intervals& a, const Intervals& b) {
  Intervals out;
  auto hole = b.begin();
  for (const Interval& one : a) {
    int64_t start = one.start;
    while (hole != b.end() && hole->end <= start) ++hole;
    // The last hole may reach into the next interval, so it is not passed here.
    for (auto next = hole; next != b.end() && next->start < one.end; ++next) {
      add_in_order(out, start, next->start);
      start = next->end;
      hole = next;
    }
    add_in_order(out, start, one.end);
  }
  return out;
}

Intervals clip(const Intervals& set, Interval window) {
  Intervals out;
  auto from = std::partition_point(set.begin(), set.end(),
                                   [&](const Interval& one) { return one.end <= window.start; });
  for (; from != set.end() && from->start < window.end; ++from) {
    add_in_order(out, std::max(from->start, window.start), std::min(from->end, window.end));
  }
  return out;
}

}  // namespace gpufl::analysis
