// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analysis/insights/test_program.hpp"
#include "analysis/warp/pipeline_simulator.hpp"

namespace gpufl::analysis::testing {
namespace {

// A session of one profiled kernel that is all there is.
std::vector<Insight> insights_of(Pipeline pipeline, const Thresholds& thresholds = {}) {
  TestProgram program;
  pipeline.start_ns = 0;
  pipeline.correlation = 5;
  const int64_t end = add_pipeline(program, pipeline);
  program.kernel("gemm", 0, end, {.correlation = 5});
  return program.insights(thresholds);
}

TEST(WarpGroupBound, NamesTheGroupThatWasSlowedDown) {
  const auto slow_producer =
      of_rule(insights_of({.load_ns = 1'500, .mma_ns = 1'000}), "warp_group_bound");
  ASSERT_EQ(slow_producer.size(), 1u);
  EXPECT_NE(slow_producer[0].title.find("group producer"), std::string::npos)
      << slow_producer[0].title;
  // As fast as the consumer: a third less.
  EXPECT_NEAR(slow_producer[0].gain_share, 1.0 / 3, 0.02);
  const auto slow_consumer =
      of_rule(insights_of({.load_ns = 400, .mma_ns = 1'000}), "warp_group_bound");
  ASSERT_EQ(slow_consumer.size(), 1u);
  EXPECT_NE(slow_consumer[0].title.find("group consumer"), std::string::npos);
  ASSERT_EQ(slow_consumer[0].evidence.size(), 1u);
  EXPECT_EQ(slow_consumer[0].evidence[0].kernel, "gemm");
}

TEST(WarpGroupBound, OfGroupsThatAreAlikeNoneIsBlamedAndNothingPromised) {
  const auto found = of_rule(insights_of({.consumers = 2}), "warp_group_bound");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("groups consumer 0 and consumer 1 together"), std::string::npos)
      << found[0].title;
  EXPECT_FALSE(found[0].gain_ns.has_value());
  EXPECT_EQ(found[0].severity, Severity::Low);
  // One that is slower: what it takes more than the other, and no more.
  const auto slower =
      of_rule(insights_of({.consumers = 2, .last_consumer_extra_ns = 100}), "warp_group_bound");
  ASSERT_EQ(slower.size(), 1u);
  EXPECT_NE(slower[0].title.find("group consumer 1 "), std::string::npos) << slower[0].title;
  EXPECT_NEAR(slower[0].gain_share, 0.1 / 1.1, 0.005);
}

TEST(WarpGroupBound, LostRecordsLowerItsConfidence) {
  TestProgram program;
  const int64_t end = add_pipeline(program, {.start_ns = 0, .correlation = 5});
  program.kernel("gemm", 0, end, {.correlation = 5});
  program.data.tables.warp_launches[0].dropped = 7;
  const auto found = of_rule(program.insights(), "warp_group_bound");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].confidence, Confidence::Low);
  EXPECT_EQ(of_rule(insights_of({}), "warp_group_bound").at(0).confidence, Confidence::Medium);
}

TEST(WarpGroupBound, ACaptureThatNoKernelIsFoundForTakesItsOwnTime) {
  TestProgram program;
  add_pipeline(program, {.start_ns = 0, .load_ns = 1'500, .mma_ns = 1'000, .correlation = 5});
  program.kernel("other", 0, 1'000);
  EXPECT_EQ(of_rule(program.insights(), "warp_group_bound").size(), 1u);
}

TEST(WarpGroupBound, NotWithoutFlowsNorBelowItsShares) {
  EXPECT_TRUE(of_rule(insights_of({.has_flows = false}), "warp_group_bound").empty());
  Thresholds strict;
  strict.warp_group_bound.min_path_share = 0.999;
  EXPECT_TRUE(of_rule(insights_of({}, strict), "warp_group_bound").empty());
  TestProgram program;
  const int64_t end = add_pipeline(program, {.start_ns = 0, .correlation = 5});
  program.kernel("gemm", 0, end, {.correlation = 5});
  program.kernel("other", end, 100 * end);
  EXPECT_TRUE(of_rule(program.insights(), "warp_group_bound").empty());
}

TEST(WarpBubbles, TellsTheirShareOfThePath) {
  const auto found = of_rule(insights_of({.load_ns = 400, .mma_ns = 1'000, .consumer_gap_ns = 250}),
                             "warp_bubbles");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].gain_share, 0.2, 0.004);
  EXPECT_NE(found[0].detail.find("group consumer"), std::string::npos) << found[0].detail;
}

// Where another group is as long without any, they are not the limit.
TEST(WarpBubbles, TheirGainEndsAtTheNextGroup) {
  const auto found = of_rule(
      insights_of({.load_ns = 1'150, .mma_ns = 1'000, .consumer_gap_ns = 250}), "warp_bubbles");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].gain_share, 0.08, 0.004);
}

TEST(WarpBubbles, MostOfThePathMakesNoGroupTheLimit) {
  const auto found = insights_of({.load_ns = 100, .mma_ns = 400, .consumer_gap_ns = 600});
  EXPECT_TRUE(of_rule(found, "warp_group_bound").empty());
  EXPECT_EQ(of_rule(found, "warp_bubbles").size(), 1u);
}

TEST(WarpBubbles, NotWhereThereAreFew) {
  EXPECT_TRUE(of_rule(insights_of({.consumer_gap_ns = 20}), "warp_bubbles").empty());
}

}  // namespace
}  // namespace gpufl::analysis::testing
