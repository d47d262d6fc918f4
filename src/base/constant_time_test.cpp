// SPDX-License-Identifier: Apache-2.0
#include "base/constant_time.hpp"

#include <gtest/gtest.h>

namespace gpufl::base {
namespace {

TEST(ConstantTime, ComparesEveryByte) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("secret", "secret"));
  EXPECT_FALSE(equal_in_constant_time("secret", "secreT"));
  EXPECT_FALSE(equal_in_constant_time("Secret", "secret"));
  EXPECT_FALSE(equal_in_constant_time("secret", "secre"));
  EXPECT_FALSE(equal_in_constant_time("", "s"));
  EXPECT_FALSE(equal_in_constant_time(std::string_view("a\0b", 3), std::string_view("a\0c", 3)));
  EXPECT_FALSE(equal_in_constant_time("\x80", "\x7f"));
}

}  // namespace
}  // namespace gpufl::base
