// SPDX-License-Identifier: Apache-2.0
// The profilers of warpscope.cuh on a real GPU, each scenario by both: what they recorded, decoded
// as users decode it, against what the kernel did.

#include <gtest/gtest.h>
#include <warpscope_host.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <tuple>

#include "tests/device/programs.hpp"
#include "tests/device/warpscope_scenarios.hpp"

namespace ws_device_test {
namespace {

namespace device = gpufl::device_test;

class WarpscopeDevice : public testing::Test {
 protected:
  ws::Trace record(const std::string& scenario, const std::string& profiler,
                   const std::string& policy = "first") {
    const std::string file = (folder_.path() / "capture").string();
    const device::Outcome outcome = device::run(
        {(device::bin_folder() / "warpscope_program").string(), scenario, profiler, policy, file});
    EXPECT_EQ(outcome.exit_code, 0) << scenario << " " << profiler << ": " << outcome.output;
    ws::Trace trace = ws::decode_file(file);
    EXPECT_TRUE(trace.has_side_block);
    return trace;
  }
  // Complete: every lane of the shape has ended, and nothing is wrong.
  static void expect_clean(const ws::Trace& trace, size_t lanes) {
    for (const ws::Problem& problem : trace.problems) ADD_FAILURE() << problem.text;
    EXPECT_EQ(trace.lanes.size(), lanes);
    for (const ws::Lane& lane : trace.lanes) {
      EXPECT_TRUE(lane.initialised && lane.finalised) << lane.block << " " << lane.group;
      EXPECT_EQ(lane.dropped, 0u);
      EXPECT_NE(lane.sm, ws::kUnknownSm);
    }
  }

  device::TemporaryFolder folder_;
};

const char* const kBoth[] = {"v1", "fast"};

TEST_F(WarpscopeDevice, SpansOfKnownLengthAreWithin64Nanoseconds) {
  for (const char* profiler : kBoth) {
    const ws::Trace trace = record("spans", profiler);
    expect_clean(trace, 9 * kGroups);
    size_t known = 0;
    for (const ws::Span& span : trace.spans) {
      if (span.event_id != kKnown) continue;
      ++known;
      ASSERT_TRUE(span.has_end_payload());
      const auto off = static_cast<int64_t>(span.duration_ns) - span.end_payload;
      EXPECT_LE(std::llabs(off), 64) << profiler << ": " << span.end_payload << " ns";
    }
    EXPECT_EQ(known, size_t{9} * kGroups * kLengths * kSpansOfALength);
  }
}

TEST_F(WarpscopeDevice, SpansOfKnownLengthAreWithin20Cycles) {
  for (const char* profiler : {"v1-cycles", "fast-cycles"}) {
    const ws::Trace trace = record("spans", profiler);
    expect_clean(trace, 9 * kGroups);
    for (const ws::Lane& lane : trace.lanes) {
      // What the two events themselves take, as short spans show it.
      std::vector<int64_t> costs, off;
      for (const ws::Span& span : trace.spans) {
        if (span.block != lane.block || span.group != lane.group) continue;
        const int64_t longer = static_cast<int64_t>(span.cycles) - span.end_payload;
        (span.event_id == kShort ? costs : off).push_back(longer);
      }
      ASSERT_EQ(costs.size(), kShortSpans);
      ASSERT_EQ(off.size(), kLengths * kSpansOfALength);
      std::nth_element(costs.begin(), costs.begin() + kShortSpans / 2, costs.end());
      const int64_t cost = costs[kShortSpans / 2];
      for (const int64_t longer : off) {
        EXPECT_LE(std::llabs(longer - cost), 20) << profiler << ", the events' own " << cost;
      }
      EXPECT_GT(lane.cycles_per_ns, 0.1);
      EXPECT_LT(lane.cycles_per_ns, 10.0);
    }
  }
}

TEST_F(WarpscopeDevice, BlocksOfThreeDimensionsHaveTheirOwnLanesAndWarpZeroIsNotNeeded) {
  for (const char* profiler : kBoth) {
    const ws::Trace trace = record("grid", profiler);
    EXPECT_EQ(trace.num_blocks, kGridX * kGridY * kGridZ);
    EXPECT_EQ(trace.num_groups, kGroups);
    expect_clean(trace, size_t{kGridX} * kGridY * kGridZ * kGroups);
    ASSERT_EQ(trace.instants.size(), size_t{kGridX} * kGridY * kGridZ * kGroups);
    for (const ws::Instant& instant : trace.instants) EXPECT_EQ(instant.payload, instant.block);
  }
}

TEST_F(WarpscopeDevice, WhatDoesNotFitIsDroppedAsThePolicySaysAndCounted) {
  constexpr uint32_t kRoom = kOverflowSlots - 1;
  for (const char* profiler : kBoth) {
    for (const char* policy : {"first", "last", "both"}) {
      const ws::Trace trace = record("overflow", profiler, policy);
      const uint32_t first = policy == std::string("first")  ? kRoom
                             : policy == std::string("both") ? kRoom / 2
                                                             : 0;
      std::set<uint32_t> expected;
      for (uint32_t i = 0; i < first; ++i) expected.insert(i);
      for (uint32_t i = 0; i < kRoom - first; ++i) expected.insert(kOverflowRecords - 1 - i);
      ASSERT_EQ(trace.lanes.size(), size_t{9} * kGroups);
      for (const ws::Lane& lane : trace.lanes) {
        std::set<uint32_t> kept;
        for (const ws::Instant& instant : trace.instants) {
          if (instant.block == lane.block && instant.group == lane.group) {
            kept.insert(instant.payload);
          }
        }
        EXPECT_EQ(kept, expected) << profiler << " " << policy;
        EXPECT_EQ(lane.offered, kOverflowRecords);
        EXPECT_EQ(lane.dropped, kOverflowRecords - kRoom);
        EXPECT_TRUE(lane.finalised);
      }
      EXPECT_NE(trace.problem(ws::ProblemKind::Dropped), nullptr);
    }
  }
}

// All that is not a time.
using Content = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, int>;
std::multiset<Content> content(const ws::Trace& trace) {
  std::multiset<Content> all;
  for (const ws::Span& span : trace.spans) {
    all.insert({span.block, span.group, span.event_id, span.payload, span.end_payload, span.token,
                span.flags});
  }
  for (const ws::Instant& instant : trace.instants) {
    all.insert({instant.block, instant.group, instant.event_id, instant.payload, 0, instant.token,
                0x100 | instant.flags});
  }
  return all;
}

TEST_F(WarpscopeDevice, TheFastPathRecordsWhatV1Records) {
  const ws::Trace v1 = record("mixed", "v1"), fast = record("mixed", "fast");
  expect_clean(v1, 9 * kGroups);
  expect_clean(fast, 9 * kGroups);
  EXPECT_EQ(content(v1).size(), size_t{9} * kGroups * kMixedRounds * 4);
  EXPECT_EQ(content(v1), content(fast));
}

TEST_F(WarpscopeDevice, EveryRecordOfManyLanesArrivesInOrder) {
  for (const char* profiler : kBoth) {
    const ws::Trace trace = record("concurrent", profiler);
    expect_clean(trace, size_t{trace.num_blocks} * kGroups);
    ASSERT_EQ(trace.instants.size(), size_t{trace.num_blocks} * kGroups * kConcurrentRecords);
    std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint64_t>> next;
    for (const ws::Instant& instant : trace.instants) {
      auto& [number, time_ns] = next[{instant.block, instant.group}];
      ASSERT_EQ(instant.payload, number++) << profiler;
      ASSERT_GE(instant.time_ns, time_ns) << profiler;
      time_ns = instant.time_ns;
    }
  }
}

TEST_F(WarpscopeDevice, TokensJoinRangesThatOverlap) {
  for (const char* profiler : kBoth) {
    const ws::Trace trace = record("tokens", profiler);
    expect_clean(trace, 9 * kGroups);
    ASSERT_EQ(trace.spans.size(), size_t{9} * kGroups * kTokens);
    for (const ws::Span& span : trace.spans) {
      EXPECT_TRUE(span.has_token() && span.has_payload() && span.has_end_payload());
      EXPECT_EQ(span.payload, span.end_payload) << profiler;
    }
  }
}

TEST_F(WarpscopeDevice, WindowsHaveTheSameTilesInEveryLane) {
  std::set<uint32_t> tiles;
  for (uint32_t i = kFirstTile; i < kEndTile; i += kEveryTile) tiles.insert(i);
  for (const char* profiler : kBoth) {
    const ws::Trace trace = record("window", profiler);
    std::map<std::pair<uint32_t, uint32_t>, std::set<uint32_t>> seen;
    for (const ws::Span& span : trace.spans) seen[{span.block, span.group}].insert(span.payload);
    size_t lanes = 0;
    for (uint32_t block = kFirstBlock; block < kEndBlock; block += kEveryBlock) {
      for (uint32_t group = 0; group < kGroups; ++group, ++lanes) {
        EXPECT_EQ((seen[{block, group}]), tiles) << profiler << " " << block << " " << group;
      }
    }
    EXPECT_EQ(seen.size(), lanes);
    expect_clean(trace, lanes);
  }
}

TEST_F(WarpscopeDevice, LanesKnowTheirRankInTheCluster) {
  for (const char* profiler : kBoth) {
    const ws::Trace trace = record("cluster", profiler);
    expect_clean(trace, size_t{4} * kClusterBlocks * kGroups);
    for (const ws::Lane& lane : trace.lanes) {
      EXPECT_EQ(lane.cluster_rank, lane.block % kClusterBlocks);
    }
  }
}

TEST_F(WarpscopeDevice, WhatAnEventCostsIsMeasuredAndInTheCapture) {
  for (const char* profiler : {"v1", "fast", "v1-cycles", "fast-cycles"}) {
    const ws::Trace trace = record("cost", profiler);
    expect_clean(trace, 9 * kGroups);
    const double cost_ns = trace.layout.event_cost_ps / 1e3;
    // The same profiler in another kernel, with other neighbours: alike, not equal.
    for (const ws::Lane& lane : trace.lanes) {
      const double seen_ns =
          static_cast<double>(lane.last_ns - lane.first_ns) / (2.0 * kCostRegions);
      EXPECT_GT(cost_ns, seen_ns / 4) << profiler;
      EXPECT_LT(cost_ns, seen_ns * 4) << profiler;
    }
  }
}

TEST_F(WarpscopeDevice, TheExamplesCheckThemselves) {
  const std::string output = folder_.path().string();
  const std::vector<std::vector<std::string>> commands = {
      {"warpscope_toy", output + "/trace.json"},
      {"warpscope_softmax", "--rows", "1000", "--output", output},
      {"warpscope_gemm_example", "--size", "1024", "--output", output}};
  for (std::vector<std::string> command : commands) {
    command[0] = (device::bin_folder() / command[0]).string();
    const device::Outcome outcome = device::run(command);
    EXPECT_EQ(outcome.exit_code, 0) << command[0] << "\n" << outcome.output;
  }
}

// As users would find it: a capture of the product, imported and reported.
TEST_F(WarpscopeDevice, TheReportNamesTheGroupOfTheProductThatIsSlow) {
  const std::string gpufl = (device::bin_folder() / "gpufl").string();
  const std::pair<const char*, const char*> slow_groups[] = {{"loader", "loader"},
                                                             {"multiplier", "multiplier 1"}};
  for (const auto& [option, name] : slow_groups) {
    const std::filesystem::path folder = folder_.path() / option;
    ASSERT_TRUE(std::filesystem::create_directory(folder));
    const std::string output = folder.string(), sessions = (folder / "imported").string();
    const std::vector<std::vector<std::string>> commands = {
        {(device::bin_folder() / "warpscope_gemm_example").string(), "--size", "2048", "--slow",
         option, "--slow-cycles", "4000", "--output", output},
        {gpufl, "import", (folder / "gemm.wscap").string(), "--output", sessions},
        {gpufl, "report", sessions}};
    device::Outcome outcome;
    for (const std::vector<std::string>& command : commands) {
      outcome = device::run(command);
      ASSERT_EQ(outcome.exit_code, 0) << command[0] << " " << command[1] << "\n" << outcome.output;
    }
    EXPECT_NE(outcome.output.find(std::string(name) + " limits it: "), std::string::npos)
        << outcome.output;
  }
}

}  // namespace
}  // namespace ws_device_test
