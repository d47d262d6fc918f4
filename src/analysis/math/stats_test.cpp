// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/stats.hpp"

#include <gtest/gtest.h>

#include <map>

#include <algorithm>
#include <cmath>

namespace gpufl::analysis {
namespace {

// The definition, word for word.
Stats by_definition(std::vector<int64_t> values) {
  Stats stats;
  stats.count = values.size();
  if (values.empty()) return stats;
  std::sort(values.begin(), values.end());
  for (const int64_t value : values) stats.total += value;
  stats.min = values.front();
  stats.max = values.back();
  const auto count = static_cast<double>(values.size());
  stats.mean = static_cast<double>(stats.total) / count;
  const size_t middle = values.size() / 2;
  stats.median = values.size() % 2 == 1
                     ? static_cast<double>(values[middle])
                     : static_cast<double>(values[middle - 1] + values[middle]) / 2;
  stats.p90 = values[static_cast<size_t>(std::ceil(count * 90 / 100)) - 1];
  stats.p99 = values[static_cast<size_t>(std::ceil(count * 99 / 100)) - 1];
  return stats;
}

void expect_same(const Stats& got, const Stats& wanted) {
  EXPECT_EQ(got.count, wanted.count);
  EXPECT_EQ(got.total, wanted.total);
  EXPECT_EQ(got.min, wanted.min);
  EXPECT_EQ(got.max, wanted.max);
  EXPECT_EQ(got.mean, wanted.mean);
  EXPECT_EQ(got.median, wanted.median);
  EXPECT_EQ(got.p90, wanted.p90);
  EXPECT_EQ(got.p99, wanted.p99);
}

uint64_t next_random(uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

TEST(Stats, AgreeWithTheirDefinition) {
  uint64_t state = 1;
  for (const size_t count : {0, 1, 2, 3, 4, 9, 10, 11, 99, 100, 101, 200, 1000, 20'011}) {
    for (const uint64_t spread : {1, 3, 1000, 2'000'000'000}) {
      std::vector<int64_t> values(count);
      for (int64_t& value : values) value = static_cast<int64_t>(next_random(state) % spread);
      std::vector<uint32_t> narrow(values.begin(), values.end());
      const Stats wanted = by_definition(values);
      expect_same(stats_of(values), wanted);
      expect_same(stats_of(narrow), wanted);
    }
  }
}

TEST(Stats, NegativeAndHugeValues) {
  std::vector<int64_t> values = {INT64_MAX, INT64_MAX, -5};
  const Stats stats = stats_of(values);
  EXPECT_EQ(stats.min, -5);
  EXPECT_EQ(stats.max, INT64_MAX);
  EXPECT_EQ(stats.total, INT64_MAX - 5);  // stopped at the end, then five less
  std::vector<uint32_t> narrow(3, UINT32_MAX);
  EXPECT_EQ(stats_of(narrow).total, 3 * int64_t{UINT32_MAX});
}

class GroupStats : public ::testing::TestWithParam<bool> {};

TEST_P(GroupStats, AreThoseOfEachGroupAlone) {
  constexpr uint32_t kGroups = 7;
  constexpr uint32_t kKeys = 20;
  uint64_t state = 2;
  std::vector<uint32_t> group_of(kKeys);
  for (uint32_t key = 0; key < kKeys; ++key) group_of[key] = key % (kGroups + 1);  // one too many
  std::vector<std::vector<int64_t>> wanted(kGroups);
  std::vector<uint32_t> keys;
  std::vector<uint32_t> groups;
  NarrowColumn values;
  for (int row = 0; row < 5000; ++row) {
    keys.push_back(static_cast<uint32_t>(next_random(state) % (kKeys + 2)));
    groups.push_back(keys.back() < kKeys ? group_of[keys.back()] : UINT32_MAX);
    auto value = static_cast<int64_t>(next_random(state) % 100'000);
    if (GetParam() && row % 100 == 0) value += int64_t{1} << 33;
    values.push_back(value);
    if (groups.back() < kGroups) wanted[groups.back()].push_back(value);
  }
  const auto mapped = group_stats(keys, group_of, values, kGroups);
  const auto direct = group_stats(groups, values, kGroups);
  ASSERT_EQ(mapped.size(), kGroups);
  ASSERT_EQ(direct.size(), kGroups);
  for (uint32_t group = 0; group < kGroups; ++group) {
    expect_same(mapped[group], by_definition(wanted[group]));
    expect_same(direct[group], by_definition(wanted[group]));
  }
}

TEST(Stats, OfCountsAreThoseOfTheValues) {
  uint64_t state = 3;
  for (const size_t count : {1, 2, 3, 10, 99, 100, 101, 1000}) {
    std::vector<int64_t> values;
    std::map<int64_t, uint64_t> occurrences;
    for (size_t i = 0; i < count; ++i) {
      values.push_back(static_cast<int64_t>(next_random(state) % 50));
      ++occurrences[values.back()];
    }
    std::vector<ValueCount> counts;
    for (const auto& [value, times] : occurrences) counts.push_back({value, times});
    expect_same(stats_of(std::span<const ValueCount>(counts)), by_definition(values));
  }
  EXPECT_EQ(stats_of(std::span<const ValueCount>()).count, 0U);
}

INSTANTIATE_TEST_SUITE_P(WideValues, GroupStats, ::testing::Bool());

}  // namespace
}  // namespace gpufl::analysis
