// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analysis/warp/pipeline_simulator.hpp"
#include "base/json.hpp"
#include "report/diff_report.hpp"
#include "report/json_report.hpp"
#include "report/test_report.hpp"

namespace gpufl::report {
namespace {

using analysis::testing::add_pipeline;
using analysis::testing::Pipeline;
using analysis::testing::TestSession;

analysis::SessionData profiled(const Pipeline& pipeline) {
  TestSession session;
  const int64_t end = add_pipeline(session, pipeline);
  session.kernel("void gemm<float>(float*)", pipeline.start_ns, end - pipeline.start_ns,
                 {.correlation = pipeline.correlation});
  return session.finish();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(WarpSectionTest, LooksAsItShould) {
  analysis::SessionData session = profiled({.load_ns = 400,
                                            .mma_ns = 1'000,
                                            .consumer_gap_ns = 100,
                                            .block_delay_ns = 500,
                                            .correlation = 9});
  format::WarpLaunch& launch = session.tables.warp_launches[0];
  launch.offered = launch.records + 12;
  launch.dropped = 12;
  launch.problems = {"block 3, group 1: not finalised"};
  launch.event_cost_ps = 25'500;
  launch.tick_ps = 32'000;
  const std::string text = text_of(std::move(session));
  const size_t begin = text.find("INSIDE KERNELS");
  ASSERT_NE(begin, std::string::npos);
  expect_golden(text.substr(begin, text.find("\n\n", begin) - begin + 1), "inside_kernels.txt");
}

// What is wrong comes before any figure.
TEST(WarpSectionTest, LossesComeFirst) {
  analysis::SessionData session = profiled({});
  session.tables.warp_launches[0].dropped = 7;
  const std::string text = text_of(std::move(session));
  const size_t lost = text.find("7 of 2,048 records did not fit");
  ASSERT_NE(lost, std::string::npos) << text;
  EXPECT_LT(lost, text.find("limits it"));
}

TEST(WarpSectionTest, TellsOfFullLanesOnce) {
  analysis::SessionData session = profiled({});
  format::WarpLaunch& launch = session.tables.warp_launches[0];
  launch.full_lanes = 1;
  launch.problems = {"1 lanes are full, and nothing counted what did not fit: records may be lost",
                     "2 begins have no end"};
  const std::string one = text_of(session, {.width = 1000});
  EXPECT_TRUE(has(one, "1 lane is full, and nothing counted what did not fit: it may have lost"));
  EXPECT_FALSE(has(one, "lanes are full")) << one;
  EXPECT_TRUE(has(one, "2 begins have no end"));
  launch.full_lanes = 3;
  EXPECT_TRUE(has(text_of(session, {.width = 1000}), "3 lanes are full, and nothing counted"));
}

TEST(WarpSectionTest, FullLanesAreNotHiddenByALackOfLaunchCounts) {
  analysis::SessionData session = profiled({});
  format::Ledger& ledger = session.summary.ledger.emplace();
  ledger.uncounted.insert("full_warp_lanes");
  EXPECT_TRUE(has(text_of(session, {.width = 1000}),
                  "LEDGER: not proven: full lanes of warpscope may have lost records\n"));
  ledger.kernel_records = 1;
  EXPECT_TRUE(has(text_of(session, {.width = 1000}),
                  "LEDGER: not proven: no loss is known, but launches were not counted, and full "
                  "lanes of warpscope may have lost records\n"));
}

TEST(WarpSectionTest, NamesTheGroupThatWasSlowedDown) {
  EXPECT_TRUE(has(text_of(profiled({.load_ns = 1'500})), "producer limits it"));
  EXPECT_TRUE(has(text_of(profiled({.load_ns = 400})), "consumer limits it"));
  EXPECT_TRUE(
      has(text_of(profiled({.load_ns = 1'500, .has_flows = false})), "producer is the busiest"));
}

TEST(WarpSectionTest, BlamesNoneOfGroupsThatAreAlike) {
  const std::string text = text_of(profiled({.consumers = 2}));
  EXPECT_TRUE(has(text, "consumer 0 and consumer 1 limit it together")) << text;
  EXPECT_FALSE(has(text, "limits it")) << text;
  const TestReport report(profiled({.consumers = 2}));
  const auto json = base::Json::parse(json_report(report.view()));
  const base::Json& bottleneck = (*json)["warps"].items().at(0)["bottleneck"];
  EXPECT_TRUE(bottleneck["group"].is_null());
  EXPECT_EQ(bottleneck["groups"].items().size(), 2u);
  EXPECT_LT(bottleneck["gain"].as_number(), 0.01);
}

TEST(WarpSectionTest, SaysWhereMostIsNotRecorded) {
  const Pipeline pipeline{.load_ns = 100, .mma_ns = 400, .consumer_gap_ns = 600};
  const std::string text = text_of(profiled(pipeline));
  EXPECT_TRUE(has(text, "What limits it is not known, because most of the critical path, 5"))
      << text;
  EXPECT_FALSE(has(text, "limits it:")) << text;
  const TestReport report(profiled(pipeline));
  const auto json = base::Json::parse(json_report(report.view()));
  const base::Json& bottleneck = (*json)["warps"].items().at(0)["bottleneck"];
  EXPECT_TRUE(bottleneck["group"].is_null());
  EXPECT_TRUE(bottleneck["groups"].items().empty());
  EXPECT_TRUE(bottleneck["gain"].is_null());
}

TEST(WarpSectionTest, NothingOfSessionsWithoutOne) {
  TestSession session;
  session.kernel("gemm", 0, 100);
  EXPECT_FALSE(has(text_of(session.finish()), "INSIDE KERNELS"));
}

TEST(WarpSectionTest, TopCutsLaunchesAndRows) {
  TestSession session;
  for (int64_t launch = 1; launch <= 3; ++launch) {
    add_pipeline(session, {.launch = launch, .start_ns = launch * 1'000'000});
  }
  TextOptions options;
  options.top = 1;
  const std::string text = text_of(session.finish(), options);
  EXPECT_TRUE(has(text, "launch 1"));
  EXPECT_FALSE(has(text, "launch 2"));
  EXPECT_TRUE(has(text, "... 2 more"));
}

TEST(WarpSectionTest, JsonHasTheSameFigures) {
  const TestReport report(profiled({.load_ns = 1'500, .correlation = 9}));
  const auto json = base::Json::parse(json_report(report.view()));
  ASSERT_TRUE(json.is_ok());
  const base::Json& warp = (*json)["warps"].items().at(0);
  EXPECT_EQ(warp["bottleneck"]["group"].as_string(), "producer");
  EXPECT_EQ(warp["joined"]["outside"].as_integer(-1), 0);
  EXPECT_EQ(warp["groups"].items().size(), 2u);
  EXPECT_GT(warp["critical_path"]["parts"].items().at(0)["share"].as_number(), 0.9);
  EXPECT_EQ(warp["balance"]["sms"].as_integer(), 2);
}

TEST(WarpSectionTest, AComparisonNamesTheEventThatBecameSlower) {
  const auto warps_of = [](const Pipeline& pipeline) {
    return analysis::warp_figures(profiled(pipeline));
  };
  analysis::compare::Comparison comparison;
  comparison.warps =
      analysis::warp_changes(warps_of({.mma_ns = 1'000}), warps_of({.mma_ns = 1'300}));
  const std::string text = diff_text(comparison);
  EXPECT_TRUE(has(text, "Inside kernels: 2 of 4 events differ by more than the noise")) << text;
  EXPECT_TRUE(has(text, "+300 ns")) << text;
  const auto json = base::Json::parse(diff_json(comparison));
  EXPECT_EQ((*json)["warps"].items().at(0)["event"].as_string(), "mma");
  EXPECT_FALSE(has(diff_text({}), "Inside kernels"));
}

}  // namespace
}  // namespace gpufl::report
