// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/ratio_estimate.hpp"

#include <cmath>
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

// Clusters of one piece, a share `seen` of what each stands for.
std::optional<Estimate> estimate(const std::vector<Piece>& clusters, double seen = 0) {
  WholeSums whole;
  PartSums part;
  const Cluster cluster{{seen, seen, seen}};
  for (const Piece& piece : clusters) {
    whole.add(cluster, {&piece, 1});
    part.add(whole, cluster, {&piece, 1});
  }
  return RatioEstimator(whole).of(part);
}

TEST(RatioEstimateTest, OfClustersOfDifferentSizes) {
  const auto found = estimate({{10, 100}, {30, 200}, {20, 100}, {36, 400}});
  ASSERT_TRUE(found);
  // 96 / 800; residuals -2, 6, 8, -12; their squares sum up to 248.
  EXPECT_DOUBLE_EQ(found->value, 0.12);
  const double reach = 3.182446 * std::sqrt(4.0 / 3 * 248) / 800;
  EXPECT_NEAR(found->high - found->value, reach, 1e-6);
  EXPECT_NEAR(found->value - found->low, reach, 1e-6);
  EXPECT_EQ(found->pieces, 4u);
}

TEST(RatioEstimateTest, NoneOfFewerThanThreeClusters) {
  EXPECT_FALSE(estimate({{10, 100}, {30, 200}}));
  EXPECT_FALSE(estimate({{10, 100}, {30, 200}, {0, 0}}));  // an empty one says nothing of a share
  EXPECT_TRUE(estimate({{10, 100}, {30, 200}, {0, 1}}));
}

TEST(RatioEstimateTest, WhatWasSeenIsCertain) {
  const std::vector<Piece> clusters = {{10, 100}, {30, 200}, {20, 100}};
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

TEST(RatioEstimateTest, PiecesCountAsMuchAsTheyStandFor) {
  const auto found = estimate({{10, 100, {1, 1, 1}}, {30, 100, {3, 3, 3}}, {20, 100, {2, 2, 2}}});
  ASSERT_TRUE(found);
  // 140 / 600; residuals -13.33, 20 and -6.67.
  EXPECT_DOUBLE_EQ(found->value, 140.0 / 600);
  EXPECT_NEAR(found->high - found->value, 4.302653 * std::sqrt(1.5 * 622.2222) / 600, 1e-5);
}

TEST(RatioEstimateTest, TheIntervalReachesAsFarAsPausesMayDiffer) {
  const std::vector<Piece> like_both = {{0, 100, {2, 2, 2}}, {50, 100, {2, 2, 2}}, {0, 100}};
  std::vector<Piece> open = like_both;
  open[1].weight = {4, 2, 1};
  const auto sure = estimate(like_both, 1), unsure = estimate(open, 1);
  EXPECT_DOUBLE_EQ(sure->value, 0.2);
  EXPECT_DOUBLE_EQ(sure->low, sure->high);
  EXPECT_DOUBLE_EQ(unsure->value, 0.2);
  EXPECT_DOUBLE_EQ(unsure->low, 50.0 / 400);
  EXPECT_DOUBLE_EQ(unsure->high, 200.0 / 700);
}

// One cluster that is all of the time: windows in it are what is uncertain.
TEST(RatioEstimateTest, WithinAClusterPiecesDiffer) {
  const std::vector<Piece> windows = {{60, 100}, {50, 100}, {60, 100}, {70, 100}};
  WholeSums whole;
  PartSums part;
  const Cluster all_of_it{{1, 1, 1}, false};
  whole.add(all_of_it, windows);
  part.add(whole, all_of_it, windows);
  const auto found = RatioEstimator(whole).of(part);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->value, 0.6);
  EXPECT_NEAR(found->high, 0.6 + 3.182446 * std::sqrt(4.0 / 3 * 200) / 400, 1e-6);
  EXPECT_EQ(found->pieces, 4u);
  WholeSums half;
  half.add({{0.5, 0.5, 0.5}, false}, windows);
  EXPECT_FALSE(RatioEstimator(half).is_known()) << "nobody knows what the other half was like";
}

// Windows of one cluster that are all alike tell no more than one of them.
TEST(RatioEstimateTest, PiecesOfAClusterAreNoClusters) {
  WholeSums whole, pooled;
  PartSums part, of_pooled;
  const Cluster attachment{{0, 0, 0}, false};
  for (const double share : {10.0, 30.0, 20.0, 20.0}) {
    const std::vector<Piece> windows(10, Piece{share, 100});
    whole.add(attachment, windows);
    part.add(whole, attachment, windows);
    const Piece one{10 * share, 1'000};
    pooled.add(attachment, {&one, 1});
    of_pooled.add(pooled, attachment, {&one, 1});
  }
  EXPECT_DOUBLE_EQ(RatioEstimator(whole).of(part)->high,
                   RatioEstimator(pooled).of(of_pooled)->high);
}

TEST(WilsonIntervalTest, IsThatOfTheBooks) {
  const Estimate found = binomial_estimate(0.1, 100);
  EXPECT_DOUBLE_EQ(found.value, 0.1);
  EXPECT_NEAR(found.low, 0.0552, 1e-4);
  EXPECT_NEAR(found.high, 0.1744, 1e-4);
  EXPECT_DOUBLE_EQ(binomial_estimate(0, 10).low, 0);
}

}  // namespace
}  // namespace gpufl::analysis
