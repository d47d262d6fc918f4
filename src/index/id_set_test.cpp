// SPDX-License-Identifier: Apache-2.0
#include "index/id_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace gpufl::index {
namespace {

TEST(IdSet, HoldsWhatWasAdded) {
  std::mt19937_64 random(3);
  IdSet ids(10'000);
  std::set<int64_t> expected;
  for (int i = 0; i < 3'000; ++i) {
    const auto id = static_cast<int64_t>(random() % 4'000) - 1'000;
    ids.add(id);
    expected.insert(id);
  }
  for (int64_t id = -1'010; id < 3'010; ++id) {
    EXPECT_EQ(ids.contains(id), expected.contains(id)) << id;
  }
}

TEST(IdSet, KeepsNestedIdsInFewRuns) {
  IdSet ids(8);
  // Scopes of three levels: the inner ones end first.
  for (int64_t outer = 1; outer < 30'000; outer += 3) {
    for (const int64_t id : {outer + 2, outer + 1, outer}) ids.add(id);
  }
  EXPECT_EQ(ids.runs(), 1U);
  EXPECT_TRUE(ids.contains(30'000));
  EXPECT_FALSE(ids.contains(30'001));
}

TEST(IdSet, TakesNoMoreRunsThanItMay) {
  IdSet ids(4);
  for (int64_t id = 0; id < 100; id += 2) ids.add(id);
  EXPECT_EQ(ids.runs(), 4U);
  ids.add(1);
  EXPECT_TRUE(ids.contains(1));
  ids.add(INT64_MAX);
  ids.add(INT64_MIN);
  EXPECT_FALSE(ids.contains(INT64_MIN));
}

}  // namespace
}  // namespace gpufl::index
