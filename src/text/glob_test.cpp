// SPDX-License-Identifier: Apache-2.0
#include "text/glob.hpp"

#include <gtest/gtest.h>

namespace gpufl::text {
namespace {

TEST(GlobTest, StarIsAnyTextAndQuestionMarkOneCharacter) {
  EXPECT_TRUE(matches_glob("*", ""));
  EXPECT_TRUE(matches_glob("a*c", "abbc"));
  EXPECT_TRUE(matches_glob("a?c", "abc"));
  EXPECT_TRUE(matches_glob("*b*b", "abab"));
  EXPECT_FALSE(matches_glob("a*c", "abcd"));
  EXPECT_FALSE(matches_glob("", "a"));
  EXPECT_FALSE(matches_glob("a?", "a"));
}

}  // namespace
}  // namespace gpufl::text
