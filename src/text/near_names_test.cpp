// SPDX-License-Identifier: Apache-2.0
#include "text/near_names.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpufl::text {
namespace {

const std::vector<std::string_view> kWords{"monitor", "report", "verify", "log", "cat", "info"};

TEST(NearNames, FindsTheNearWord) {
  EXPECT_EQ(nearest("moniter", kWords), "monitor");
  EXPECT_EQ(nearest("mointor", kWords), "monitor");
  EXPECT_EQ(nearest("reports", kWords), "report");
  EXPECT_EQ(nearest("lgo", kWords), "log");
  EXPECT_EQ(nearest("verfy", kWords), "verify");
  EXPECT_EQ(nearest("REPORT", kWords), "report");
  EXPECT_EQ(nearest("trac", {"Monitor", "Trace"}), "Trace");
}

TEST(NearNames, SaysWhatThereIs) {
  EXPECT_EQ(not_one_of("trac", {"Monitor", "Trace"}),
            "'trac' is not one of Monitor, Trace; did you mean 'Trace'?");
  EXPECT_EQ(not_one_of("", {"Monitor", "Trace"}), "'' is not one of Monitor, Trace");
}

TEST(NearNames, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("upload", kWords), "");
  EXPECT_EQ(nearest("x", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(nearest(std::string(1000, 'm'), kWords), "");
  EXPECT_EQ(nearest("monitor", {}), "");
}

}  // namespace
}  // namespace gpufl::text
