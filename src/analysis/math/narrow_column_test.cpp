// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/narrow_column.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace gpufl::analysis {
namespace {

const std::vector<int64_t> kEdges = {
    0,         1, UINT32_MAX - 2, UINT32_MAX - 1, UINT32_MAX, int64_t{1} << 32, INT64_MAX, -1, -2,
    INT64_MIN, 7};

std::vector<int64_t> values_of(const NarrowColumn& column) {
  std::vector<int64_t> values;
  for (size_t row = 0; row < column.size(); ++row) values.push_back(column[row]);
  return values;
}

TEST(NarrowColumn, EveryValueIsExact) {
  NarrowColumn pushed;
  for (const int64_t value : kEdges) pushed.push_back(value);
  EXPECT_EQ(values_of(pushed), kEdges);
  EXPECT_FALSE(pushed.is_plain());

  NarrowColumn appended;
  appended.append({5, 6});
  EXPECT_TRUE(appended.is_plain());
  appended.append(kEdges);
  appended.append(pushed);
  std::vector<int64_t> wanted = {5, 6};
  for (int i = 0; i < 2; ++i) wanted.insert(wanted.end(), kEdges.begin(), kEdges.end());
  EXPECT_EQ(values_of(appended), wanted);
}

TEST(NarrowColumn, ManyOfOneValue) {
  NarrowColumn column;
  column.append(3, 9);
  column.append(2, INT64_MIN);
  column.append(2, -1);
  EXPECT_EQ(values_of(column), (std::vector<int64_t>{9, 9, 9, INT64_MIN, INT64_MIN, -1, -1}));
}

TEST(NarrowColumn, ReordersWideValuesToo) {
  NarrowColumn column;
  column.append({10, -20, 30, int64_t{1} << 40});
  column.reorder({3, 1, 0, 2});
  EXPECT_EQ(values_of(column), (std::vector<int64_t>{int64_t{1} << 40, -20, 10, 30}));
}

TEST(NarrowColumn, FourBytesEach) {
  NarrowColumn column;
  column.reserve(1000);
  column.append(400, 1);
  column.append(200, -1);
  column.append(std::vector<int64_t>(400, -1));
  EXPECT_EQ(column.bytes(), 4000U);
  EXPECT_FALSE(column.is_plain());
}

}  // namespace
}  // namespace gpufl::analysis
