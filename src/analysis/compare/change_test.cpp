// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/change.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace gpufl::analysis::compare {
namespace {

using Values = std::vector<double>;
constexpr Errors kErrors{0.025, 0.025};

TEST(TrimmedMeanTest, LeavesOutAFifthAtEachEnd) {
  EXPECT_DOUBLE_EQ(trimmed_mean(Values{1000, 2, 3, 4, -900}), 3);
  EXPECT_DOUBLE_EQ(trimmed_mean(Values{9, 1, 1, 1}), 3);
  EXPECT_DOUBLE_EQ(trimmed_mean(Values{-50, -40, 1, 2, 3, 4, 5, 6, 70, 80}), 3.5);
}

TEST(ChangeTest, IsYuensInterval) {
  // By hand, on logarithms: both sides trimmed by one, drawn-in variances 0.0005 each.
  const Values a{std::exp(0.00), std::exp(0.01), std::exp(0.02), std::exp(0.03), std::exp(0.04)};
  const Values b{std::exp(0.10), std::exp(0.11), std::exp(0.12), std::exp(0.13), std::exp(0.14)};
  const Change change = change_between(a, b, kErrors);
  EXPECT_NEAR(std::log1p(change.estimate), 0.10, 1e-12);
  // Squares of {1,1,2,3,3} around 2: 4, in 1e-4; divided by 3 * 2 a side; four degrees.
  const double reach = 2.776445 * std::sqrt(2 * 4e-4 / 6);
  EXPECT_NEAR(std::log1p(change.low), 0.10 - reach, 1e-6);
  EXPECT_NEAR(std::log1p(change.high), 0.10 + reach, 1e-6);
  EXPECT_TRUE(change.is_increase());
  EXPECT_TRUE(change_between(b, a, kErrors).is_decrease());
}

TEST(ChangeTest, EndsHaveErrorsOfTheirOwn) {
  const Values a{10, 11, 12, 13, 14};
  const Change narrow = change_between(a, a, {0.1, 0.1});
  const Change above = change_between(a, a, {0.1, 0.001});
  EXPECT_DOUBLE_EQ(above.low, narrow.low);
  EXPECT_GT(above.high, narrow.high);
}

TEST(ChangeTest, FewRepeatsHaveNoInterval) {
  const Change change = change_between(Values{1, 1, 1, 1}, Values(10, 2.0), kErrors);
  EXPECT_DOUBLE_EQ(change.estimate, 1);
  EXPECT_FALSE(change.has_interval());
  EXPECT_FALSE(change.is_increase());
}

TEST(ChangeTest, ValuesWithoutSpreadAreExactButForTheirRounding) {
  const Values a(5, 2000.0);
  const Values b(5, 2032.0);
  EXPECT_EQ(change_between(a, a, kErrors), (Change{0, 0, 0}));
  EXPECT_TRUE(change_between(a, b, kErrors).is_increase());
  EXPECT_FALSE(change_between(a, b, kErrors, 32).is_increase());
  EXPECT_TRUE(change_between(a, Values(5, 2100.0), kErrors, 32).is_increase());
  // Where they vary by more than that, it is in what they vary by.
  const Values noisy{1900, 1950, 2000, 2050, 2100};
  EXPECT_EQ(change_between(noisy, noisy, kErrors, 32), change_between(noisy, noisy, kErrors));
}

TEST(ChangeTest, OneDisturbedRunDoesNotHideAChange) {
  const Values a{100, 101, 99, 100, 100, 101, 99, 100, 100, 300};
  const Values b{105, 106, 104, 105, 105, 106, 104, 105, 105, 105};
  const Change change = change_between(a, b, {1e-4, 1e-4});
  EXPECT_TRUE(change.is_increase());
  EXPECT_NEAR(change.estimate, 0.05, 0.005);
}

TEST(RepeatsForTest, GrowWithTheSquareOfWhatIsWanted) {
  EXPECT_EQ(repeats_for(10, 0.5), 40u);
  EXPECT_EQ(repeats_for(10, 2), 3u);
  EXPECT_EQ(repeats_for(10, 1e-9), 10'000u);
}

}  // namespace
}  // namespace gpufl::analysis::compare
