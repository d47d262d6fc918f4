// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/table_keys.hpp"

#include <gtest/gtest.h>

#include "format/batch.hpp"

namespace gpufl::analysis {
namespace {

namespace column = format::sync_column;

constexpr TableKeys::Columns kLane = {column::kDevice, column::kContext, column::kStream};

format::Batch rows_of(const std::vector<TableKeys::Key>& keys) {
  format::Batch batch(format::Kind::Sync);
  for (const TableKeys::Key& key : keys) {
    for (size_t part = 0; part < key.size(); ++part) {
      batch.mutable_column(kLane[part]).push_back(key[part]);
    }
  }
  batch.set_rows(keys.size());
  return batch;
}

TEST(TableKeys, NumbersKeysAsTheyAppear) {
  TableKeys keys({-1, -1, -1});
  std::vector<uint32_t> indices;
  keys.append(rows_of({{0, 1, 7}, {0, 1, 7}, {0, 1, 8}, {1, 1, 8}, {0, 1, 7}}), kLane, indices);
  keys.append(rows_of({{0, 1, 8}, {0, 2, 8}}), kLane, indices);
  EXPECT_EQ(indices, (std::vector<uint32_t>{0, 0, 1, 2, 0, 1, 3}));
  EXPECT_EQ(keys.keys(), (std::vector<TableKeys::Key>{{0, 1, 7}, {0, 1, 8}, {1, 1, 8}, {0, 2, 8}}));
}

TEST(TableKeys, AColumnThatIsNotThereIsAbsentInEveryRow) {
  for (size_t missing = 0; missing < 3; ++missing) {
    TableKeys keys({-1, -2, -3});
    std::vector<uint32_t> indices;
    format::Batch batch = rows_of({{5, 5, 5}, {6, 6, 6}, {6, 6, 6}, {5, 5, 5}});
    batch.mutable_column(kLane[missing]).clear();
    keys.append(batch, kLane, indices);
    EXPECT_EQ(indices, (std::vector<uint32_t>{0, 1, 1, 0}));
    TableKeys::Key first = {5, 5, 5}, second = {6, 6, 6};
    first[missing] = second[missing] = TableKeys::Key{-1, -2, -3}[missing];
    EXPECT_EQ(keys.keys(), (std::vector<TableKeys::Key>{first, second}));
  }
  TableKeys keys({-1, -2, -3});
  std::vector<uint32_t> indices;
  constexpr size_t kNone = format::kNoColumn;
  keys.append(rows_of({{5, 5, 5}, {6, 6, 6}}), {kNone, kNone, kNone}, indices);
  EXPECT_EQ(indices, (std::vector<uint32_t>{0, 0}));
  EXPECT_EQ(keys.keys(), (std::vector<TableKeys::Key>{{-1, -2, -3}}));
}

TEST(TableKeys, FindsEachOfManyKeysAgain) {
  constexpr int64_t kMany = 10'000;
  TableKeys keys({0, 0, 0});
  std::vector<uint32_t> first, again;
  std::vector<TableKeys::Key> all;
  for (int64_t i = 0; i < kMany; ++i) all.push_back({i % 7, -i, i << 40});
  keys.append(rows_of(all), kLane, first);
  keys.append(rows_of(all), kLane, again);
  EXPECT_EQ(first, again);
  EXPECT_EQ(keys.keys(), all);
}

}  // namespace
}  // namespace gpufl::analysis
