// SPDX-License-Identifier: Apache-2.0
#include "symbols/python_lines.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace gpufl::symbols {
namespace {

using Bytes = std::vector<uint8_t>;

uint8_t byte(int value) { return static_cast<uint8_t>(value); }

TEST(PythonLinesTest, ReadsPairs) {
  // 0-4: line 11; 4-10: line 14; 10-14: none; 14-16: line 12.
  const Bytes table = {4, 1, 6, 3, 4, byte(-128), 2, byte(-2)};
  EXPECT_EQ(line_in_pairs(table, 10, 0), 11);
  EXPECT_EQ(line_in_pairs(table, 10, 3), 11);
  EXPECT_EQ(line_in_pairs(table, 10, 4), 14);
  EXPECT_EQ(line_in_pairs(table, 10, 9), 14);
  EXPECT_EQ(line_in_pairs(table, 10, 10), 0);
  EXPECT_EQ(line_in_pairs(table, 10, 14), 12);
  EXPECT_EQ(line_in_pairs(table, 10, 16), 0);
  EXPECT_EQ(line_in_pairs(table, 10, -2), 11);  // not begun
}

TEST(PythonLinesTest, AddsLongRangesOfPairs) {
  const Bytes table = {254, 0, 254, 0, 10, 1};
  EXPECT_EQ(line_in_pairs(table, 7, 300), 7);
  EXPECT_EQ(line_in_pairs(table, 7, 510), 8);
}

// The first byte of an entry: its kind, and how many instructions it covers.
uint8_t entry(int kind, int instructions) { return byte(0x80 | kind << 3 | (instructions - 1)); }

TEST(PythonLinesTest, ReadsLocations) {
  const Bytes table = {
      entry(0, 1),  0x11,                    // 0: the same line, columns
      entry(11, 2), 0x10, 0x20,              // 2-6: a line further
      entry(13, 1), 0x42, 0x02,              // 6: no columns; 2 + 2*64 = 130, so 65 further
      entry(14, 1), 0x05, 0x01, 0x02, 0x03,  // 8: long; 5 = -2
      entry(15, 8),                          // 10-26: none
      entry(10, 1), 0x10, 0x20,              // 26: the same line
  };
  EXPECT_EQ(line_in_locations(table, 100, 0), 100);
  EXPECT_EQ(line_in_locations(table, 100, 2), 101);
  EXPECT_EQ(line_in_locations(table, 100, 4), 101);
  EXPECT_EQ(line_in_locations(table, 100, 6), 166);
  EXPECT_EQ(line_in_locations(table, 100, 8), 164);
  EXPECT_EQ(line_in_locations(table, 100, 10), 0);
  EXPECT_EQ(line_in_locations(table, 100, 25), 0);
  EXPECT_EQ(line_in_locations(table, 100, 26), 164);
  EXPECT_EQ(line_in_locations(table, 100, 28), 0);
}

TEST(PythonLinesTest, SurvivesDamagedTables) {
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) {
    Bytes table(random() % 24);
    for (uint8_t& b : table) b = static_cast<uint8_t>(random());
    line_in_locations(table, 1, random() % 64);  // the sanitizers watch
    line_in_pairs(table, 1, random() % 64);
  }
}

}  // namespace
}  // namespace gpufl::symbols
