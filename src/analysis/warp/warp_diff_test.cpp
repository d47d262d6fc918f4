// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/warp_diff.hpp"

#include <gtest/gtest.h>

#include "analysis/warp/pipeline_simulator.hpp"

namespace gpufl::analysis {
namespace {

using testing::add_pipeline;
using testing::Pipeline;
using testing::TestSession;

std::vector<WarpFigures> figures_of(const Pipeline& pipeline) {
  TestSession session;
  add_pipeline(session, pipeline);
  return warp_figures(session.finish());
}

TEST(WarpDiffTest, NamesTheEventThatBecameSlower) {
  const auto changes =
      warp_changes(figures_of({.tick_ns = 32}), figures_of({.mma_ns = 1'200, .tick_ns = 32}));
  ASSERT_FALSE(changes.empty());
  EXPECT_EQ(changes[0].group, "consumer");
  EXPECT_EQ(changes[0].event, "mma");
  EXPECT_NEAR(changes[0].change_ns(), 200, 32);
  EXPECT_TRUE(changes[0].is_beyond_noise());
  EXPECT_EQ(changes[1].event, "wait_empty");  // of the producer, for as much longer
  for (const WarpChange& change : changes) {
    if (change.event == "load") {
      EXPECT_FALSE(change.is_beyond_noise());
    }
  }
}

TEST(WarpDiffTest, TheSameIsTheSame) {
  for (const WarpChange& change : warp_changes(figures_of({}), figures_of({}))) {
    EXPECT_FALSE(change.is_beyond_noise()) << change.event;
  }
}

TEST(WarpDiffTest, LessThanATickIsNoise) {
  for (const WarpChange& change : warp_changes(figures_of({.load_ns = 400, .tick_ns = 32}),
                                               figures_of({.load_ns = 420, .tick_ns = 32}))) {
    if (change.event == "load") {
      EXPECT_FALSE(change.is_beyond_noise());
    }
  }
}

TEST(WarpDiffTest, OnlyKernelsOfBoth) {
  EXPECT_TRUE(warp_changes(figures_of({}), figures_of({.kernel = "other"})).empty());
}

}  // namespace
}  // namespace gpufl::analysis
