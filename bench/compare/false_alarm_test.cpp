// SPDX-License-Identifier: Apache-2.0
// A few of compare_bench's trials, always the same ones: with the noise that is assumed, and, to
// the same bars, with that of an H200.
#include <gtest/gtest.h>

#include "bench/compare/measured_noise.hpp"
#include "bench/compare/trials.hpp"

namespace gpufl::bench {
namespace {

constexpr size_t kPairs = 8;
constexpr size_t kMeasuredPairs = 50;
constexpr const char* kKernel = "nvjet_sm90_tst_192x96_64x5_1x2_h_bz_NTT";

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
  const TrialCounts counts = run_trials(*program_, kPairs, {}, {1.05, kKernel});
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

class MeasuredFalseAlarmTest : public FalseAlarmTest {
 protected:
  void SetUp() override {
    FalseAlarmTest::SetUp();
    const auto noise = load_measured_noise(GPUFL_MEASURED_NOISE);
    ASSERT_TRUE(noise.is_ok()) << noise.status().text();
    noise_ = *noise;
  }
  Noise noise_;
};

TEST_F(MeasuredFalseAlarmTest, GroupsThatAreAlikeRaiseAtMostTwoOfFifty) {
  const TrialCounts counts = run_trials(*program_, kMeasuredPairs, noise_);
  EXPECT_GE(counts.at_most_5.passes, kMeasuredPairs - 2);
  EXPECT_LE(counts.at_most_3.regressions, 2u);
  EXPECT_LE(counts.diff_findings, 2u);
}

TEST_F(MeasuredFalseAlarmTest, FivePercentInOneKernelAreFoundInAtLeast48OfFifty) {
  const TrialCounts counts = run_trials(*program_, kMeasuredPairs, noise_, {1.05, kKernel});
  EXPECT_GE(counts.at_most_5.regressions, kMeasuredPairs - 2);
  EXPECT_GE(counts.at_most_3.regressions, kMeasuredPairs - 2);
  EXPECT_GE(counts.diff_findings, kMeasuredPairs - 2);
}

}  // namespace
}  // namespace gpufl::bench
