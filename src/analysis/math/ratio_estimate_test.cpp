// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/ratio_estimate.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/math/student_t.hpp"

namespace gpufl::analysis {
namespace {

TEST(StudentTQuantileTest, IsThatOfTheTables) {
  EXPECT_NEAR(student_t_quantile(0.025, 1), 12.7062, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.025, 10), 2.22814, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.005, 10), 3.16927, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.0005, 4), 8.61030, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.025, 1000), 1.96234, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.01, 5.5), 3.2366, 2e-2);
}

std::optional<Estimate> estimate(const std::vector<std::pair<double, double>>& clusters,
                                 double seen = 0) {
  WholeSums whole;
  PartSums part;
  for (const auto& [y, x] : clusters) {
    whole.add(x);
    part.add(y, x);
  }
  return RatioEstimator(whole, seen).of(part);
}

TEST(RatioEstimateTest, OfClustersOfDifferentSizes) {
  const auto found = estimate({{10, 100}, {30, 200}, {20, 100}, {36, 400}});
  ASSERT_TRUE(found);
  // 96 / 800; residuals -2, 6, 8, -12; their squares sum up to 248.
  EXPECT_DOUBLE_EQ(found->value, 0.12);
  const double reach = 3.182446 * std::sqrt(4.0 / 3 * 248) / 800;
  EXPECT_NEAR(found->high - found->value, reach, 1e-6);
  EXPECT_NEAR(found->value - found->low, reach, 1e-6);
  EXPECT_EQ(found->clusters, 4u);
}

TEST(RatioEstimateTest, NoneOfFewerThanThreeClusters) {
  EXPECT_FALSE(estimate({{10, 100}, {30, 200}}));
  EXPECT_FALSE(estimate({{10, 100}, {30, 200}, {0, 0}}));  // an empty one says nothing of a share
  EXPECT_TRUE(estimate({{10, 100}, {30, 200}, {0, 1}}));
}

TEST(RatioEstimateTest, WhatWasSeenIsCertain) {
  const std::vector<std::pair<double, double>> clusters = {{10, 100}, {30, 200}, {20, 100}};
  const auto of_little = estimate(clusters);
  const auto of_most = estimate(clusters, 0.99);
  const auto of_all = estimate(clusters, 1);
  EXPECT_NEAR((of_most->high - of_most->value) / (of_little->high - of_little->value), 0.1, 1e-9);
  EXPECT_DOUBLE_EQ(of_all->low, of_all->high);
}

TEST(RatioEstimateTest, NeverBelowZero) {
  const auto found = estimate({{0, 100}, {0, 100}, {1, 100}});
  EXPECT_DOUBLE_EQ(found->low, 0);
  EXPECT_GT(found->high, 0.01);
}

TEST(WilsonIntervalTest, IsThatOfTheBooks) {
  const Estimate found = binomial_estimate(10, 100);
  EXPECT_DOUBLE_EQ(found.value, 0.1);
  EXPECT_NEAR(found.low, 0.0552, 1e-4);
  EXPECT_NEAR(found.high, 0.1744, 1e-4);
  EXPECT_DOUBLE_EQ(binomial_estimate(0, 10).low, 0);
}

}  // namespace
}  // namespace gpufl::analysis
