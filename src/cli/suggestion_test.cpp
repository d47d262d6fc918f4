// SPDX-License-Identifier: Apache-2.0
#include "cli/suggestion.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpufl::cli {
namespace {

const std::vector<std::string_view> kWords{"monitor", "report", "verify", "log", "cat", "info"};

TEST(Suggestion, FindsTheNearWord) {
  EXPECT_EQ(nearest("moniter", kWords), "monitor");
  EXPECT_EQ(nearest("mointor", kWords), "monitor");
  EXPECT_EQ(nearest("reports", kWords), "report");
  EXPECT_EQ(nearest("lgo", kWords), "log");
  EXPECT_EQ(nearest("verfy", kWords), "verify");
}

TEST(Suggestion, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("upload", kWords), "");
  EXPECT_EQ(nearest("x", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(nearest(std::string(1000, 'm'), kWords), "");
  EXPECT_EQ(nearest("monitor", {}), "");
}

}  // namespace
}  // namespace gpufl::cli
