// SPDX-License-Identifier: Apache-2.0
#include "bench/paired_ratio.hpp"

#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace gpufl::bench {
namespace {

TEST(PairedRatio, IntervalOfTenIsTheNinthMeanFromEachEnd) {
  // Wilcoxon's table: of ten pairs, sums of ranks up to 8 are beyond 2.5%.
  std::vector<double> differences(10);
  std::iota(differences.begin(), differences.end(), 1.0);
  const Estimate estimate = summarize_differences(differences);
  EXPECT_EQ(estimate.middle, 5.5);
  // The means of two, smallest first: 1, 1.5, 2, 2, 2.5, 2.5, 3, 3, 3, ...
  EXPECT_EQ(estimate.low, 3);
  EXPECT_EQ(estimate.high, 8);
  EXPECT_EQ(estimate.pairs, 10);
}

TEST(PairedRatio, FewerThanSixPairsBoundNothing) {
  const Ratio five = summarize_ratios({1, 1, 1, 1, 1});
  EXPECT_EQ(five.middle, 1);
  EXPECT_EQ(five.low, 0);
  EXPECT_TRUE(std::isinf(five.high));
  const Estimate six = summarize_differences({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(six.low, 1);
  EXPECT_EQ(six.high, 6);
}

TEST(PairedRatio, OneWildPairMovesNothingMuch) {
  std::vector<double> ratios(20, 1.5);
  ratios[7] = 100;
  const Ratio ratio = summarize_ratios(ratios);
  EXPECT_DOUBLE_EQ(ratio.middle, 1.5);
  EXPECT_DOUBLE_EQ(ratio.low, 1.5);
  EXPECT_DOUBLE_EQ(ratio.high, 1.5);
}

TEST(PairedRatio, IntervalHoldsTheTruthNineteenTimesOutOfTwenty) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> cost(0, 0.05);
  constexpr int kTrials = 2000;
  int held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Ratio ratio =
        paired_ratio(20, [&] { return cost(random); }, [&] { return 1.1 * cost(random); });
    held += ratio.low <= 1.1 && 1.1 <= ratio.high;
  }
  EXPECT_NEAR(static_cast<double>(held) / kTrials, 0.95, 0.02);
}

TEST(PairedRatio, AlternatesWhoGoesFirst) {
  std::vector<char> order;
  const auto costs = run_pairs(
      2,
      [&] {
        order.push_back('a');
        return 2.0;
      },
      [&] {
        order.push_back('b');
        return 3.0;
      });
  EXPECT_EQ(order, (std::vector<char>{'a', 'b', 'b', 'a'}));
  EXPECT_DOUBLE_EQ(ratio_of(costs).middle, 1.5);
  EXPECT_DOUBLE_EQ(difference_of(costs).middle, 1);
}

}  // namespace
}  // namespace gpufl::bench
