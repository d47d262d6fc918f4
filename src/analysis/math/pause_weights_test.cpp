// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/pause_weights.hpp"

#include <gtest/gtest.h>

namespace gpufl::analysis {
namespace {

double sum(const std::vector<ByPauseRule>& times, PauseLike rule) {
  double total = 0;
  for (const ByPauseRule& time : times) total += time[static_cast<size_t>(rule)];
  return total;
}

TEST(PauseWeightsTest, APauseIsOfItsNeighbours) {
  const auto times = time_stood_for({{0, 10}, {50, 60}, {80, 90}}, {{0, 100}});
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[0], (ByPauseRule{50, 30, 10}));
  EXPECT_EQ(times[1], (ByPauseRule{30, 40, 50}));
  EXPECT_EQ(times[2], (ByPauseRule{20, 30, 40}));
  for (const PauseLike rule : {PauseLike::Before, PauseLike::Both, PauseLike::After}) {
    EXPECT_DOUBLE_EQ(sum(times, rule), 100);
  }
}

TEST(PauseWeightsTest, TheFirstAndTheLastHaveWhatIsOutside) {
  const auto times = time_stood_for({{40, 50}}, {{0, 100}});
  EXPECT_EQ(times, (std::vector<ByPauseRule>{{100, 100, 100}}));
}

TEST(PauseWeightsTest, OnlyTimeOfTheWholeCounts) {
  const auto times = time_stood_for({{0, 20}, {60, 70}}, {{10, 30}, {50, 100}});
  ASSERT_EQ(times.size(), 2u);
  // Ten of its own, and a pause of 10 + 10.
  EXPECT_EQ(times[0], (ByPauseRule{30, 20, 10}));
  EXPECT_EQ(times[1], (ByPauseRule{40, 50, 60}));
}

TEST(PauseWeightsTest, NothingStandsForNothing) {
  EXPECT_TRUE(time_stood_for({}, {{0, 100}}).empty());
  EXPECT_EQ(time_stood_for({{5, 6}}, {}), (std::vector<ByPauseRule>{{0, 0, 0}}));
}

}  // namespace
}  // namespace gpufl::analysis
