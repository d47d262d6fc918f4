// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/launch_overlap.hpp"

#include <gtest/gtest.h>

namespace gpufl::backend {
namespace {

void launch(LaunchOverlap& overlap, uint32_t thread, int64_t from_ns, int count) {
  for (int i = 0; i < count; ++i) overlap.add(thread, from_ns + i * int64_t{1'000});
}

TEST(LaunchOverlap, OneThreadOverlapsNobody) {
  LaunchOverlap overlap;
  launch(overlap, 1, 0, 10'000);
  overlap.end_round();
  EXPECT_FALSE(overlap.is_seen());
}

TEST(LaunchOverlap, ThreadsThatTakeTurnsDoNotOverlap) {
  LaunchOverlap overlap;
  for (int step = 0; step < 4; ++step) {
    launch(overlap, 1, step * 1'000'000, 400);            // forward
    launch(overlap, 2, step * 1'000'000 + 500'000, 400);  // backward
  }
  overlap.end_round();
  EXPECT_FALSE(overlap.is_seen());
}

TEST(LaunchOverlap, AFewLaunchesBesideAreNoOverlap) {
  LaunchOverlap overlap;
  launch(overlap, 1, 0, 1'000);
  launch(overlap, 2, 500'500, 3);
  overlap.end_round();
  EXPECT_FALSE(overlap.is_seen());
}

TEST(LaunchOverlap, ThreadsThatLaunchTogetherOverlapAndStaySeen) {
  LaunchOverlap overlap;
  launch(overlap, 1, 0, 1'000);
  launch(overlap, 2, 300'500, 500);
  overlap.end_round();
  EXPECT_TRUE(overlap.is_seen());
  launch(overlap, 1, 2'000'000, 1'000);
  overlap.end_round();
  EXPECT_TRUE(overlap.is_seen());
}

TEST(LaunchOverlap, AThreadOfManyLaunchesDoesNotHideTheOthers) {
  LaunchOverlap overlap;
  launch(overlap, 1, 0, 200'000);
  launch(overlap, 2, 500, 200'000);
  overlap.end_round();
  EXPECT_TRUE(overlap.is_seen());
}

}  // namespace
}  // namespace gpufl::backend
