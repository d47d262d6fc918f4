// SPDX-License-Identifier: Apache-2.0
#include "report/html/warp_lanes.hpp"

#include <set>

#include <gtest/gtest.h>

#include "analysis/warp/pipeline_simulator.hpp"

namespace gpufl::report {
namespace {

using analysis::testing::add_pipeline;
using analysis::testing::Pipeline;
using analysis::testing::TestSession;

std::vector<WarpLanes> lanes_of(TestSession& session,
                                const analysis::AnalysisOptions& options = {}) {
  const analysis::SessionData data = session.finish();
  return warp_lanes(timeline::SessionTexts(data), options);
}

std::vector<int64_t> blocks_of(const WarpLanes& lanes) {
  std::vector<int64_t> blocks;
  for (const timeline::WarpTrack& track : lanes.tracks) {
    if (blocks.empty() || blocks.back() != track.block) blocks.push_back(track.block);
  }
  return blocks;
}

size_t slices_of(const WarpLanes& lanes) {
  size_t count = 0;
  for (const timeline::WarpTrack& track : lanes.tracks) {
    for (const timeline::SliceRow& row : track.rows) count += row.size();
  }
  return count;
}

TEST(WarpLanesTest, SmallLaunchesAreWhole) {
  TestSession session;
  add_pipeline(session, {.blocks = 3, .iterations = 5, .mma_ns = 1'000});
  const std::vector<WarpLanes> lanes = lanes_of(session);
  ASSERT_EQ(lanes.size(), 1u);
  EXPECT_EQ(lanes[0].title, "inside gemm");
  EXPECT_EQ(blocks_of(lanes[0]), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(lanes[0].tracks.size(), 6u);
  for (const timeline::WarpTrack& track : lanes[0].tracks) {
    for (const timeline::SliceRow& row : track.rows) {
      for (const timeline::Slice& slice : row) EXPECT_LT(slice.start, slice.end);
    }
  }
}

TEST(WarpLanesTest, OfManyBlocksTheFirstAndTheLongest) {
  TestSession session;
  add_pipeline(session, {.blocks = 40, .iterations = 5});
  // Another launch of the kernel, later, makes one block last from the first to the second.
  add_pipeline(session, {.launch = 2, .start_ns = 9'000'000, .blocks = 1, .iterations = 5});
  EXPECT_EQ(blocks_of(lanes_of(session).at(0)), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));

  TestSession slow;
  Pipeline pipeline{.blocks = 40, .iterations = 5};
  add_pipeline(slow, pipeline);
  format::Batch& rows = slow.data.tables.others.at(format::Kind::WarpSpan);
  std::vector<int64_t>& durations = rows.mutable_column(format::warp_span_column::kDuration);
  for (size_t row = 0; row < rows.rows(); ++row) {
    if (rows.at(format::warp_span_column::kBlock, row) == 31) durations[row] += 500'000;
  }
  const WarpLanes lanes = lanes_of(slow).at(0);
  EXPECT_EQ(blocks_of(lanes), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 31}));
  EXPECT_EQ(lanes.title, "inside gemm: 8 of 40 blocks");
}

TEST(WarpLanesTest, ManyGroupsLeaveRoomForFewBlocks) {
  TestSession session;
  add_pipeline(session, {.blocks = 10, .iterations = 2, .consumers = 15});
  const WarpLanes lanes = lanes_of(session).at(0);
  EXPECT_EQ(blocks_of(lanes).size(), 2u);
  EXPECT_EQ(lanes.tracks.size(), kMaxWarpTracks);
}

TEST(WarpLanesTest, KernelsAreBounded) {
  TestSession session;
  for (int64_t i = 0; i < 20; ++i) {
    add_pipeline(session, {.launch = i + 1,
                           .start_ns = 1'000'000 * (i + 1),
                           .blocks = 1,
                           .iterations = 2,
                           .kernel = "kernel" + std::to_string(i)});
  }
  EXPECT_EQ(lanes_of(session).size(), kMaxWarpKernels);
}

TEST(WarpLanesTest, OnlyLaunchesThatAreAskedFor) {
  TestSession session;
  const int64_t scope = session.scope("step", 0, 100'000'000);
  const int64_t ends[] = {
      add_pipeline(session, {.launch = 1, .blocks = 2, .iterations = 5, .correlation = 9}),
      add_pipeline(
          session,
          {.launch = 2, .start_ns = 5'000'000, .blocks = 2, .iterations = 5, .correlation = 10})};
  session.kernel("gemm", 1'000'000, ends[0] - 1'000'000, {.scope = scope, .correlation = 9});
  session.kernel("gemm", 5'000'000, ends[1] - 5'000'000, {.correlation = 10});
  const analysis::SessionData data = session.finish();
  const timeline::SessionTexts texts(data);
  analysis::AnalysisOptions options;
  const size_t all = slices_of(warp_lanes(texts, options).at(0));
  options.scope = "step";
  EXPECT_EQ(slices_of(warp_lanes(texts, options).at(0)), all / 2);
  options.device = 7;
  EXPECT_TRUE(warp_lanes(texts, options).empty());
}

TEST(WarpLanesTest, NothingWasProfiled) {
  TestSession session;
  session.kernel("gemm", 100, 50);
  EXPECT_TRUE(lanes_of(session).empty());
}

}  // namespace
}  // namespace gpufl::report
