// SPDX-License-Identifier: Apache-2.0
#include "base/decimal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace gpufl::base {
namespace {

double value_of(const Decimal& decimal) {
  const std::string text = std::to_string(decimal.digits) + "e" + std::to_string(decimal.exponent);
  return std::strtod(text.c_str(), nullptr);  // stod() refuses the smallest numbers
}

TEST(Decimal, FewestDigits) {
  EXPECT_EQ(to_decimal(0.5), (Decimal{5, -1}));
  EXPECT_EQ(to_decimal(-0.001), (Decimal{-1, -3}));
  EXPECT_EQ(to_decimal(3.0), (Decimal{3, 0}));
  EXPECT_EQ(to_decimal(1234.5), (Decimal{12345, -1}));
  EXPECT_EQ(to_decimal(0.1F), (Decimal{1, -1}));
  EXPECT_EQ(to_decimal(0.0), (Decimal{0, 0}));
  EXPECT_EQ(to_decimal(-0.0), (Decimal{0, 0}));
}

TEST(Decimal, GivesTheValueBack) {
  for (const double value : {M_PI, 1.0 / 3, 6.02214076e23, std::numeric_limits<double>::max(),
                             std::numeric_limits<double>::denorm_min(), -1e-300, 2.0 / 3e10}) {
    const auto decimal = to_decimal(value);
    ASSERT_TRUE(decimal);
    EXPECT_EQ(value_of(*decimal), value);
  }
}

TEST(Decimal, NotANumber) {
  EXPECT_FALSE(to_decimal(std::nan("")));
  EXPECT_FALSE(to_decimal(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(to_decimal(-std::numeric_limits<float>::infinity()));
}

TEST(Decimal, LargeUnsignedIntegersAreRounded) {
  EXPECT_EQ(to_decimal(uint64_t{42}), (Decimal{42, 0}));
  EXPECT_EQ(to_decimal(uint64_t{INT64_MAX}), (Decimal{INT64_MAX, 0}));
  EXPECT_EQ(to_decimal(uint64_t{UINT64_MAX}), (Decimal{1844674407370955162, 1}));
}

}  // namespace
}  // namespace gpufl::base
