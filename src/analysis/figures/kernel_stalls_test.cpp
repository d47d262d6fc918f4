// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/kernel_stalls.hpp"

#include <string>

#include <gtest/gtest.h>

#include "analysis/code/stall_reasons.hpp"
#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

const std::string kLong = "smsp__pcsamp_warps_issue_stalled_long_scoreboard";
const std::string kWait = "smsp__pcsamp_warps_issue_stalled_wait";

TEST(KernelStallsTest, SamplesAreAddedUpByInstructionAndReason) {
  TestSession session;
  session.pc_sample("gemm", 16, kLong, 5);
  session.pc_sample("gemm", 16, kLong, 2, {.time = 100});
  session.pc_sample("gemm", 16, kWait, 1);
  session.pc_sample("gemm", 32, kWait, 4);
  session.pc_sample("relu", 16, kWait, 3);
  const auto kernels = kernel_stalls(session.finish().tables);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].function, "gemm");
  EXPECT_EQ(kernels[0].module, 1u);
  EXPECT_EQ(kernels[0].samples, 12u);
  EXPECT_EQ(kernels[0].stalls.at("long_scoreboard").samples, 7u);
  EXPECT_EQ(kernels[0].stalls.at("wait").samples, 5u);
  EXPECT_EQ(kernels[0].by_pc.at(16).at("long_scoreboard").samples, 7u);
  EXPECT_EQ(kernels[0].by_pc.at(32).at("wait").samples, 4u);
  EXPECT_EQ(kernels[1].samples, 3u);
}

TEST(KernelStallsTest, ThoseNotIssuedAreAmongTheOthers) {
  TestSession session;
  session.pc_sample("gemm", 16, kLong, 5);
  session.pc_sample("gemm", 16, kLong + "_not_issued", 4);
  const auto kernels = kernel_stalls(session.finish().tables);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].samples, 5u);
  EXPECT_EQ(kernels[0].stalls.size(), 1u);
  EXPECT_EQ(kernels[0].stalls.at("long_scoreboard").samples, 5u);
  EXPECT_EQ(kernels[0].stalls.at("long_scoreboard").not_issued, 4u);
}

TEST(KernelStallsTest, ModulesAndDevicesAreApartAndCanBeChosen) {
  TestSession session;
  session.pc_sample("gemm", 0, kLong, 5, {.time = 10});
  session.pc_sample("gemm", 0, kLong, 4, {.time = 20, .device = 1});
  session.pc_sample("gemm", 0, kLong, 3, {.time = 30, .module = 2});
  const SessionData data = session.finish();
  EXPECT_EQ(kernel_stalls(data.tables).size(), 3u);
  AnalysisOptions options;
  options.device = 0;
  EXPECT_EQ(kernel_stalls(data.tables, options).size(), 2u);
  options.window = Interval{0, 30};
  const auto kernels = kernel_stalls(data.tables, options);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].samples, 5u);
}

TEST(StallReasonsTest, NamesAreTakenApart) {
  EXPECT_EQ(parse_stall(kLong).reason, "long_scoreboard");
  EXPECT_FALSE(parse_stall(kLong).is_not_issued);
  EXPECT_EQ(parse_stall(kLong + "_not_issued").reason, "long_scoreboard");
  EXPECT_TRUE(parse_stall(kLong + "_not_issued").is_not_issued);
  EXPECT_EQ(parse_stall("new_reason").reason, "new_reason");
}

TEST(StallReasonsTest, WordsForTheKnownOnes) {
  EXPECT_NE(stall_reason("long_scoreboard").meaning.find("global"), std::string::npos);
  EXPECT_TRUE(stall_reason("long_scoreboard").is_wait);
  EXPECT_FALSE(stall_reason("selected").is_wait);
  EXPECT_FALSE(stall_reason("not_selected").is_wait);
  EXPECT_EQ(stall_reason("new_reason").name, "new_reason");
  EXPECT_TRUE(stall_reason("new_reason").meaning.empty());
  EXPECT_FALSE(stall_reason("new_reason").advice.empty());
}

}  // namespace
}  // namespace gpufl::analysis
