// SPDX-License-Identifier: Apache-2.0
#include "bench/paired_ratio.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace gpufl::bench {
namespace {

TEST(PairedRatio, IntervalOfTwentyIsTheSixthFromEachEnd) {
  std::vector<double> ratios(20);
  std::iota(ratios.begin(), ratios.end(), 1.0);
  const Ratio ratio = summarize_ratios(ratios);
  EXPECT_EQ(ratio.median, 10.5);
  EXPECT_EQ(ratio.low, 6);
  EXPECT_EQ(ratio.high, 15);
  EXPECT_EQ(ratio.pairs, 20);
}

TEST(PairedRatio, FewerThanSixPairsBoundNothing) {
  const Ratio five = summarize_ratios({1, 1, 1, 1, 1});
  EXPECT_EQ(five.low, 0);
  EXPECT_TRUE(std::isinf(five.high));
  const Ratio six = summarize_ratios({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(six.low, 1);
  EXPECT_EQ(six.high, 6);
}

TEST(PairedRatio, AlternatesWhoGoesFirst) {
  std::vector<char> order;
  const Ratio ratio = paired_ratio(
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
  EXPECT_EQ(ratio.median, 1.5);
}

}  // namespace
}  // namespace gpufl::bench
