// SPDX-License-Identifier: Apache-2.0
// A few of compare_bench's trials, always the same ones.
#include <gtest/gtest.h>

#include "bench/compare/trials.hpp"

namespace gpufl::bench {
namespace {

constexpr size_t kPairs = 8;

class FalseAlarmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto program = SteadyProgram::load(GPUFL_BENCH_TRACE);
    ASSERT_TRUE(program.is_ok()) << program.status().text();
    program_.emplace(std::move(*program));
  }
  std::optional<SteadyProgram> program_;
};

TEST_F(FalseAlarmTest, GroupsThatAreAlikeRaiseNone) {
  const TrialCounts counts = run_trials(*program_, kPairs, {});
  EXPECT_EQ(counts.at_most_5.passes, kPairs);
  EXPECT_EQ(counts.at_most_3.regressions, 0u);
  EXPECT_EQ(counts.diff_findings, 0u);
}

TEST_F(FalseAlarmTest, FivePercentInOneKernelAreFound) {
  const TrialCounts counts =
      run_trials(*program_, kPairs, {}, {1.05, "nvjet_sm90_tst_192x96_64x5_1x2_h_bz_NTT"});
  EXPECT_GE(counts.at_most_5.regressions, kPairs - 1);
  EXPECT_GE(counts.at_most_3.regressions, kPairs - 1);
  EXPECT_GE(counts.diff_findings, kPairs - 1);
}

TEST_F(FalseAlarmTest, FivePercentInAllKernelsAreFound) {
  const TrialCounts counts = run_trials(*program_, kPairs, {}, {1.05, ""});
  EXPECT_GE(counts.at_most_5.regressions, kPairs - 1);
}

TEST_F(FalseAlarmTest, HalvesOfASteadyRunAreAlike) {
  EXPECT_EQ(halves_that_differ(*program_, 3, {}, 40), 0u);
}

}  // namespace
}  // namespace gpufl::bench
