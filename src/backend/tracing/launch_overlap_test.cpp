// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/launch_overlap.hpp"

#include <gtest/gtest.h>

namespace gpufl::backend {
namespace {

void launch(LaunchOverlap& overlap, uint32_t thread, int64_t from_ns, int count) {
  for (int i = 0; i < count; ++i) overlap.add(thread, from_ns + i * 1'000);
}

TEST(LaunchOverlap, OneThreadOverlapsNobody) {
  LaunchOverlap overlap;
  launch(overlap, 1, 0, 10'000);
  overlap.end_round();
  EXPECT_FALSE(overlap.is_seen());
}

TEST(LaunchOverlap, ThreadsThatTakeTurnsDoNotOverlap) {
  LaunchOverlap overlap;
  launch(overlap, 1, 0, 100);
  launch(overlap, 2, 100'000, 100);
  overlap.end_round();
  EXPECT_FALSE(overlap.is_seen());
}

TEST(LaunchOverlap, AFewLaunchesBesideAreNoOverlap) {
  LaunchOverlap overlap;
  launch(overlap, 1, 0, 1'000);
  launch(overlap, 2, 500'000, 3);
  overlap.end_round();
  EXPECT_FALSE(overlap.is_seen());
}

TEST(LaunchOverlap, ThreadsThatLaunchTogetherOverlapAndStaySeen) {
  LaunchOverlap overlap;
  launch(overlap, 1, 0, 1'000);
  launch(overlap, 2, 300'000, 100);
  overlap.end_round();
  EXPECT_TRUE(overlap.is_seen());
  launch(overlap, 1, 2'000'000, 1'000);
  overlap.end_round();
  EXPECT_TRUE(overlap.is_seen());
}

}  // namespace
}  // namespace gpufl::backend
