// SPDX-License-Identifier: Apache-2.0
#include "workbench/held_session.hpp"

#include <gtest/gtest.h>

#include <string>

#include "workbench/report.hpp"
#include "workbench/test_repeats.hpp"

namespace gpufl::workbench {
namespace {

TEST(HeldSessionTest, TellsWhatAReportTells) {
  const testing::TestRepeats repeats;
  const auto folder = repeats.group("a", 20'000, 1);
  const auto loaded = HeldSession::load(folder / "s0", {});
  ASSERT_TRUE(loaded) << loaded.status().text();
  EXPECT_EQ((*loaded)->session().tables.kernels.rows(), 200u);
  for (const Format format : kReportFormats) {
    EXPECT_EQ((*loaded)->report(format, {}), make_reports({.path = folder, .format = format}).text)
        << to_string(format);
  }
  EXPECT_FALSE((*loaded)->picture(100).tracks.empty());
}

TEST(HeldSessionTest, WritesEverySectionOrWhyThereIsNothingToShow) {
  const testing::TestRepeats repeats;
  const auto loaded = HeldSession::load(repeats.group("a", 20'000, 1) / "s0", {});
  ASSERT_TRUE(loaded) << loaded.status().text();
  for (const char* name : {"summary", "scopes", "hotspots", "stalls", "profile_samples",
                           "perf_metrics", "syncs", "insights"}) {
    const auto text = (*loaded)->section(name, {});
    ASSERT_TRUE(text) << text.status().text();
    EXPECT_FALSE(text->empty()) << name;
  }
  EXPECT_NE((*loaded)->section("scopes", {})->find("the program opened no scopes"),
            std::string::npos);
  EXPECT_NE((*loaded)->section("hotspots", {})->find("gemm"), std::string::npos);
  EXPECT_EQ((*loaded)->section("none", {}).status().code(), base::Code::NotFound);
}

TEST(HeldSessionTest, IsNoSessionWhereThereIsNone) {
  const testing::TestRepeats repeats;
  EXPECT_EQ(HeldSession::load(repeats.path(), {}).status().code(), base::Code::NotFound);
}

}  // namespace
}  // namespace gpufl::workbench
