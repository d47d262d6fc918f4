// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/intervals.hpp"

#include <gtest/gtest.h>

#include <bitset>
#include <cstdint>

namespace gpufl::analysis {
namespace {

constexpr size_t kPoints = 64;
using Points = std::bitset<kPoints>;

Points points_of(const Intervals& set) {
  Points points;
  for (const Interval& one : set) {
    for (int64_t at = one.start; at < one.end; ++at) points.set(static_cast<size_t>(at));
  }
  return points;
}

Intervals intervals_of(uint64_t bits) {
  Intervals set;
  for (size_t i = 0; i < kPoints; ++i) {
    const auto at = static_cast<int64_t>(i);
    if ((bits >> i & 1) != 0) add_in_order(set, at, at + 1);
  }
  return set;
}

bool is_normal(const Intervals& set) {
  for (size_t i = 0; i < set.size(); ++i) {
    if (set[i].length() <= 0 || (i != 0 && set[i].start <= set[i - 1].end)) return false;
  }
  return true;
}

TEST(Intervals, TouchingAndOverlappingOnesBecomeOne) {
  Intervals set;
  add_in_order(set, 0, 10);
  add_in_order(set, 10, 20);
  add_in_order(set, 12, 15);
  add_in_order(set, 30, 30);
  add_in_order(set, 31, 5);
  add_in_order(set, 40, 41);
  EXPECT_EQ(set, (Intervals{{0, 20}, {40, 41}}));
  EXPECT_EQ(total_length(set), 21);
}

TEST(Intervals, AgreeWithSetsOfPoints) {
  uint64_t state = 1;
  const auto random = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state ^ state >> 31;
  };
  for (int round = 0; round < 500; ++round) {
    // Sparse and dense ones, so that holes and intervals are long and short.
    const auto bits = [&](bool is_sparse) {
      const uint64_t one = random();
      const uint64_t other = random();
      return is_sparse ? one & other : one | other;
    };
    const uint64_t left_bits = bits(round % 2 == 0);
    const uint64_t right_bits = bits(round % 3 == 0);
    const Intervals left = intervals_of(left_bits);
    const Intervals right = intervals_of(right_bits);
    const Intervals window{{static_cast<int64_t>(random() % 32), 33}};
    for (const auto& [got, wanted] :
         {std::pair(unite(left, right), Points(left_bits | right_bits)),
          std::pair(intersect(left, right), Points(left_bits & right_bits)),
          std::pair(subtract(left, right), Points(left_bits & ~right_bits)),
          std::pair(clip(left, window[0]), Points(left_bits) & points_of(window))}) {
      EXPECT_EQ(points_of(got), wanted);
      EXPECT_TRUE(is_normal(got));
      EXPECT_EQ(total_length(got), static_cast<int64_t>(wanted.count()));
    }
  }
}

TEST(Intervals, EmptySetsAndTheWholeAxis) {
  const Intervals all{{INT64_MIN, INT64_MAX}};
  EXPECT_TRUE(intersect({}, all).empty());
  EXPECT_TRUE(subtract(all, all).empty());
  EXPECT_EQ(unite({}, all), all);
  EXPECT_EQ(clip(all, {3, 4}), (Intervals{{3, 4}}));
  EXPECT_EQ(total_length(all), INT64_MAX);
}

}  // namespace
}  // namespace gpufl::analysis
