// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "analysis/insights/test_program.hpp"

namespace gpufl::analysis::testing {
namespace {

// The host launches every 10 us; kernels take `kernel_ns` and start 6 us after the call.
void launch(TestProgram& program, int64_t from, int kernels, int64_t kernel_ns, int64_t graph = 0) {
  for (int i = 0; i < kernels; ++i) {
    const int64_t call = from + i * 10 * kUs;
    program.kernel("small", call + 6 * kUs, kernel_ns,
                   {.api_start = call, .api_duration = 4 * kUs, .correlation = graph},
                   {.graph = graph});
  }
}

TEST(LaunchBound, PausesThatAGraphWouldNotHave) {
  TestProgram program;
  launch(program, 0, 1001, 4 * kUs);
  const auto found = of_rule(program.insights(), "launch_bound");
  ASSERT_EQ(found.size(), 1u);
  // 1000 pauses of 6 us, of which a graph leaves 1 us each, and 10 us once.
  EXPECT_NEAR(*found[0].gain_ns, 1000 * 5.0 * kUs - 10 * kUs, 1);
  EXPECT_EQ(found[0].category, Category::Launch);
  EXPECT_NE(found[0].advice.find("CUDA graph"), std::string::npos);
  EXPECT_NE(found[0].title.find("Launch-bound on GPU 0 · idle for 6.000 ms of"), std::string::npos)
      << found[0].title;
}

TEST(LaunchBound, PhasesEndWhereTheHostDoesSomethingElse) {
  TestProgram program;
  launch(program, 0, 101, 4 * kUs);
  launch(program, 5 * kMs, 101, 4 * kUs);
  const auto found = of_rule(program.insights(), "launch_bound");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("2 phases"), std::string::npos) << found[0].title;
  EXPECT_NEAR(*found[0].gain_ns, 2 * (100 * 5.0 * kUs - 10 * kUs), 1);
}

// What lies between two phases is neither idle nor busy.
TEST(LaunchBound, PhasesEndWhereNothingWasRecorded) {
  TestProgram program;
  for (const int64_t start : {int64_t{0}, 10 * kMs, 20 * kMs}) {
    launch(program, start, 101, 4 * kUs);
    program.coverage("Trace", start, 1'020 * kUs);
  }
  program.data.summary.duration_ns = 30 * kMs;
  program.data.summary.ended = true;
  const auto found = of_rule(program.insights(), "launch_bound");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("3 phases"), std::string::npos) << found[0].title;
  EXPECT_NEAR(*found[0].gain_ns, 3 * (100 * 5.0 * kUs - 10 * kUs), 1);
  EXPECT_NEAR(found[0].gain_share, *found[0].gain_ns / (3 * 1'020.0 * kUs), 1e-9);
}

TEST(LaunchBound, NotForFewLaunchesShortPausesOrGraphs) {
  TestProgram few;
  launch(few, 0, 50, 4 * kUs);  // 49 pauses
  EXPECT_TRUE(of_rule(few.insights(), "launch_bound").empty());
  TestProgram enough;
  launch(enough, 0, 51, 4 * kUs);
  EXPECT_EQ(of_rule(enough.insights(), "launch_bound").size(), 1u);
  TestProgram busy;
  launch(busy, 0, 1000, 8'100);  // idle for 19%
  EXPECT_TRUE(of_rule(busy.insights(), "launch_bound").empty());
  TestProgram graph;
  launch(graph, 0, 1000, 4 * kUs, 7);
  EXPECT_TRUE(of_rule(graph.insights(), "launch_bound").empty());
}

TEST(TinyKernels, PausesInRunsOfThem) {
  TestProgram program;
  launch(program, 0, 1001, 4 * kUs);
  const auto found = of_rule(program.insights(), "tiny_kernels");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(*found[0].gain_ns, 1000 * 6.0 * kUs, 1);
  EXPECT_EQ(found[0].evidence.at(0).kernel, "small");
}

TEST(TinyKernels, NotForLongerKernelsShortRunsOrGraphs) {
  TestProgram longer;
  launch(longer, 0, 1000, 5 * kUs);
  EXPECT_TRUE(of_rule(longer.insights(), "tiny_kernels").empty());
  TestProgram nine;
  for (int run = 0; run < 100; ++run) launch(nine, run * kMs / 2, 9, 4 * kUs);
  EXPECT_TRUE(of_rule(nine.insights(), "tiny_kernels").empty());
  TestProgram ten;
  for (int run = 0; run < 100; ++run) launch(ten, run * kMs / 2, 10, 4 * kUs);
  EXPECT_EQ(of_rule(ten.insights(), "tiny_kernels").size(), 1u);
  TestProgram graph;
  launch(graph, 0, 1000, 4 * kUs, 7);
  EXPECT_TRUE(of_rule(graph.insights(), "tiny_kernels").empty());
}

}  // namespace
}  // namespace gpufl::analysis::testing
