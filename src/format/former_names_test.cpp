// SPDX-License-Identifier: Apache-2.0
#include "format/former_names.hpp"

#include <gtest/gtest.h>

#include "format/vendor_words.hpp"

namespace gpufl::format {
namespace {

base::Json parsed(std::string_view text) { return *base::Json::parse(text); }

TEST(FormerNames, LeadToTheNameForAllAndBack) {
  EXPECT_EQ(name_for_all(kFormerMetrics, "sm_clock_mhz"), "compute_clock_mhz");
  EXPECT_EQ(name_for_all(kFormerMetrics, "compute_clock_mhz"), "compute_clock_mhz");
  EXPECT_EQ(name_for_all(kFormerMetrics, "power_mw"), "power_mw");
  EXPECT_EQ(former_name(kFormerOccupancyBounds, "shared_memory"), "shared");
  EXPECT_EQ(former_name(kFormerOccupancyBounds, ""), "");
}

TEST(FormerNames, ADeviceLineGetsTheNamesThatItLacks) {
  const base::Json line = with_names_for_all(parsed(
      R"({"device":0,"sm_count":132,"max_sm_clock_mhz":1980,"compute_major":9,"compute_minor":0})"));
  EXPECT_EQ(line["compute_units"].as_integer(), 132);
  EXPECT_EQ(line["max_compute_clock_mhz"].as_integer(), 1980);
  EXPECT_EQ(line["architecture"].as_string(), "sm_90");
  EXPECT_EQ(line["sm_count"].as_integer(), 132) << "what was there stays";
  EXPECT_EQ(line.find("link_count"), nullptr);
}

TEST(FormerNames, WhatALineSaysItselfCounts) {
  const base::Json line = with_names_for_all(
      parsed(R"({"compute_units":7,"sm_count":132,"architecture":"sm_90a","compute_major":9,)"
             R"("compute_minor":0})"));
  EXPECT_EQ(line["compute_units"].as_integer(), 7);
  EXPECT_EQ(line["architecture"].as_string(), "sm_90a");
}

TEST(FormerNames, TwoNumbersAreNotTheNameOfAnAmdGpu) {
  const base::Json line = with_names_for_all(
      parsed(R"({"vendor":"AMD","sm_count":304,"compute_major":9,"compute_minor":4})"));
  EXPECT_EQ(line["compute_units"].as_integer(), 304);
  EXPECT_EQ(line.find("architecture"), nullptr);
  const base::Json ours =
      with_names_for_all(parsed(R"({"vendor":"amd","compute_major":9,"compute_minor":4})"));
  EXPECT_EQ(ours.find("architecture"), nullptr);
}

TEST(VendorWords, AreNvidiasWhereGpusAreAndFitAllElsewhere) {
  EXPECT_EQ(words_of_vendor("nvidia").compute_units, "SMs");
  EXPECT_EQ(words_of_vendor("").compute_units, "SMs") << "of before vendors were told apart";
  EXPECT_EQ(words_of_vendor("amd").compute_units, "compute units");
}

}  // namespace
}  // namespace gpufl::format
