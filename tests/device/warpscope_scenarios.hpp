// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/trace.hpp>

#include <map>
#include <string>

// What warpscope_program.cu records and warpscope_device_test.cpp expects of it.
namespace ws_device_test {

enum class Scenario { Spans, Grid, Overflow, Concurrent, Tokens, Window, Mixed, Cluster, Cost };

inline std::map<std::string, Scenario> scenario_names() {
  return {{"spans", Scenario::Spans},       {"grid", Scenario::Grid},
          {"overflow", Scenario::Overflow}, {"concurrent", Scenario::Concurrent},
          {"tokens", Scenario::Tokens},     {"window", Scenario::Window},
          {"mixed", Scenario::Mixed},       {"cluster", Scenario::Cluster},
          {"cost", Scenario::Cost}};
}

enum : uint32_t { kShort = 0, kKnown = 1, kNumbered = 2, kRange = 3, kTile = 4 };

inline constexpr uint32_t kUnprofiledWarps = 1;  // warp 0 never calls init
inline constexpr uint32_t kGroups = 3;
inline constexpr uint32_t kShortSpans = 15, kShortLength = 300;
inline constexpr uint32_t kSpansOfALength = 3, kLengths = 4;
inline constexpr uint32_t kGridX = 3, kGridY = 2, kGridZ = 2;
inline constexpr uint32_t kOverflowRecords = 1'000, kOverflowSlots = 150;
inline constexpr uint32_t kConcurrentRecords = 3'000;
inline constexpr uint32_t kTokens = 100;
inline constexpr uint32_t kTiles = 50, kFirstTile = 5, kEndTile = 42, kEveryTile = 4;
inline constexpr uint32_t kFirstBlock = 1, kEndBlock = 8, kEveryBlock = 3;
inline constexpr uint32_t kMixedRounds = 70;
inline constexpr uint32_t kClusterBlocks = 2;
inline constexpr uint32_t kCostRegions = 500;

inline ws::CaptureLayout layout_of(Scenario scenario, uint32_t multiprocessors) {
  ws::CaptureLayout layout;
  layout.num_blocks = 9;
  layout.num_groups = kGroups;
  layout.max_records = 1'024;
  layout.extension = true;
  switch (scenario) {
    case Scenario::Grid: layout.num_blocks = kGridX * kGridY * kGridZ; break;
    case Scenario::Overflow: layout.max_records = kOverflowSlots; break;
    case Scenario::Concurrent:
      layout.num_blocks = 2 * multiprocessors;
      layout.max_records = kConcurrentRecords + 2;
      break;
    case Scenario::Cluster:
      layout.num_blocks = 4 * kClusterBlocks;
      layout.max_records = kConcurrentRecords + 2;
      break;
    case Scenario::Window:
      layout.first_block = kFirstBlock;
      layout.block_after_last = kEndBlock;
      layout.every_block = kEveryBlock;
      layout.first_tile = kFirstTile;
      layout.tile_after_last = kEndTile;
      layout.every_tile = kEveryTile;
      break;
    default: break;
  }
  return layout;
}

}  // namespace ws_device_test
