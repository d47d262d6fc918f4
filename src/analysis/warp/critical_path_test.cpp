// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/critical_path.hpp"

#include <gtest/gtest.h>

#include "analysis/warp/pipeline_simulator.hpp"
#include "analysis/warp/warp_figures.hpp"

namespace gpufl::analysis {
namespace {

using testing::add_pipeline;
using testing::Pipeline;
using testing::TestSession;

WarpFigures figures_of(const Pipeline& pipeline) {
  TestSession session;
  add_pipeline(session, pipeline);
  return warp_figures(session.finish()).at(0);
}

// Of the critical path.
double share_of(const WarpFigures& figures, std::string_view group, std::string_view event) {
  for (const PathPart& part : figures.path.parts) {
    if (figures.group_name(part.group) == group && figures.event_name(part.event) == event) {
      return figures.path.share(part.length_ns);
    }
  }
  return 0;
}

// A hundredth of what it must be.
#define EXPECT_WITHIN_1_PERCENT(value, expected) EXPECT_NEAR(value, expected, (expected) * 0.01)

TEST(CriticalPathTest, OfAPipelineThatItsConsumerLimits) {
  const Pipeline pipe{.load_ns = 400, .mma_ns = 1'000, .consumer_gap_ns = 100};
  const WarpFigures figures = figures_of(pipe);
  const double n = 64, length = 400 + n * 1'000 + (n - 1) * 100;
  EXPECT_EQ(figures.path.length_ns, static_cast<int64_t>(length) * pipe.blocks);
  EXPECT_WITHIN_1_PERCENT(share_of(figures, "consumer", "mma"), n * 1'000 / length);
  EXPECT_WITHIN_1_PERCENT(share_of(figures, "consumer", "(between events)"),
                          (n - 1) * 100 / length);
  EXPECT_WITHIN_1_PERCENT(share_of(figures, "producer", "load"), 400 / length);
  ASSERT_TRUE(figures.bottleneck.has_value());
  EXPECT_EQ(figures.group_names(figures.bottleneck->groups), "consumer");
  EXPECT_EQ(figures.event_name(figures.bottleneck->event), "mma");
  EXPECT_TRUE(figures.bottleneck->is_by_path);
}

TEST(CriticalPathTest, OfAPipelineThatItsProducerLimits) {
  const WarpFigures figures = figures_of({.load_ns = 1'500, .mma_ns = 1'000});
  const double n = 64, length = n * 1'500 + 1'000;
  EXPECT_WITHIN_1_PERCENT(share_of(figures, "producer", "load"), n * 1'500 / length);
  EXPECT_WITHIN_1_PERCENT(share_of(figures, "consumer", "mma"), 1'000 / length);
  EXPECT_EQ(figures.group_names(figures.bottleneck->groups), "producer");
}

TEST(CriticalPathTest, OneStageMakesThemTakeTurns) {
  const WarpFigures figures = figures_of({.stages = 1, .load_ns = 500, .mma_ns = 1'000});
  EXPECT_WITHIN_1_PERCENT(share_of(figures, "producer", "load"), 1.0 / 3);
  EXPECT_WITHIN_1_PERCENT(share_of(figures, "consumer", "mma"), 2.0 / 3);
}

TEST(CriticalPathTest, StampsOfTheTimersTickChangeLittle) {
  const WarpFigures figures = figures_of({.load_ns = 410, .mma_ns = 1'013, .tick_ns = 32});
  const double n = 64, length = 410 + n * 1'013;
  EXPECT_WITHIN_1_PERCENT(share_of(figures, "consumer", "mma"), n * 1'013 / length);
}

TEST(CriticalPathTest, SeveralConsumersAndNoPayload) {
  const WarpFigures figures =
      figures_of({.consumers = 2, .load_ns = 1'500, .mma_ns = 1'000, .has_payload = false});
  EXPECT_EQ(figures.group_names(figures.bottleneck->groups), "producer");
  EXPECT_GT(figures.bottleneck->share, 0.95);
}

TEST(CriticalPathTest, SlowingAGroupNamesIt) {
  for (const int64_t slower : {0, 1}) {
    const WarpFigures figures =
        figures_of({.load_ns = slower == 0 ? 1'100 : 1'000, .mma_ns = slower == 1 ? 1'100 : 1'000});
    EXPECT_EQ(figures.bottleneck->groups, std::vector<uint32_t>{static_cast<uint32_t>(slower)});
    EXPECT_GT(figures.bottleneck->share, 0.95);
  }
}

// Of the path, with one of the groups infinitely fast: the other's time.
TEST(CriticalPathTest, TheGainEndsWhereTheNextGroupLimits) {
  const double n = 64;
  const WarpFigures by_load = figures_of({.load_ns = 1'500, .mma_ns = 1'000});
  EXPECT_WITHIN_1_PERCENT(*by_load.bottleneck->gain, 1 - n * 1'000 / (n * 1'500 + 1'000));
  const WarpFigures by_mma = figures_of({.load_ns = 400, .mma_ns = 1'000, .consumer_gap_ns = 100});
  EXPECT_WITHIN_1_PERCENT(*by_mma.bottleneck->gain, 1 - n * 400 / (400 + n * 1'100 - 100));
  // One stage: they take turns, and what one takes is saved.
  const WarpFigures turns = figures_of({.stages = 1, .load_ns = 500, .mma_ns = 1'000});
  EXPECT_WITHIN_1_PERCENT(*turns.bottleneck->gain, 2.0 / 3);
  EXPECT_EQ(turns.group_names(turns.bottleneck->groups), "consumer");
}

TEST(CriticalPathTest, GroupsThatAreAlikeAreNamedTogether) {
  for (const int64_t extra_ns : {0, 1, 8, -8}) {
    const WarpFigures figures = figures_of({.consumers = 2, .last_consumer_extra_ns = extra_ns});
    EXPECT_EQ(figures.group_names(figures.bottleneck->groups), "consumer 0 and consumer 1");
    EXPECT_GT(figures.bottleneck->share, 0.95);
    EXPECT_LE(*figures.bottleneck->gain, 0.01) << extra_ns;
  }
  // Producer and consumer too.
  const WarpFigures even = figures_of({.load_ns = 1'000, .mma_ns = 1'000});
  EXPECT_EQ(even.group_names(even.bottleneck->groups), "producer and consumer");
  EXPECT_LE(*even.bottleneck->gain, 0.02);
  // They take turns: either saves half.
  const WarpFigures turns = figures_of({.stages = 1, .load_ns = 1'000, .mma_ns = 1'000});
  EXPECT_EQ(turns.group_names(turns.bottleneck->groups), "producer and consumer");
  EXPECT_WITHIN_1_PERCENT(*turns.bottleneck->gain, 0.5);
  const WarpFigures many = figures_of({.consumers = 31});
  EXPECT_EQ(many.bottleneck->groups.size(), 31u);
  EXPECT_EQ(many.group_names(many.bottleneck->groups),
            "consumer 0, consumer 1, consumer 2, consumer 3, consumer 4 and 26 more");
}

// Flows that say the wrong phase explain no wait: groups that wait are not named for that.
TEST(CriticalPathTest, GroupsThatAreAlikeAreNamedTogetherWhereWaitsAreUnexplained) {
  TestSession session;
  add_pipeline(session, {.iterations = 600, .consumers = 2, .load_ns = 100});
  format::Batch& rows = session.data.tables.others.at(format::Kind::WarpSpan);
  const auto wait_empty = static_cast<int64_t>(session.name("wait_empty"));
  for (size_t row = 0; row < rows.rows(); ++row) {
    if (rows.at(format::warp_span_column::kEvent, row) != wait_empty) continue;
    rows.mutable_column(format::warp_span_column::kPayload)[row] ^= 65'536;
  }
  const WarpFigures figures = warp_figures(session.finish()).at(0);
  EXPECT_EQ(figures.group_names(figures.bottleneck->groups), "consumer 0 and consumer 1");
  EXPECT_LE(*figures.bottleneck->gain, 0.01);
}

TEST(CriticalPathTest, OneOfSeveralThatIsSlowerIsNamedAlone) {
  for (const int64_t tick_ns : {1, 32}) {
    const WarpFigures figures = figures_of({.consumers = 3,
                                            .load_ns = 410,
                                            .mma_ns = 1'013,
                                            .last_consumer_extra_ns = 150,
                                            .tick_ns = tick_ns});
    EXPECT_EQ(figures.group_names(figures.bottleneck->groups), "consumer 2");
    EXPECT_NEAR(*figures.bottleneck->gain, 150.0 / 1'163, 0.01);
  }
  // Nor is the producer named with it, whose first load would save less than the error.
  const WarpFigures few =
      figures_of({.iterations = 14, .consumers = 2, .last_consumer_extra_ns = 60, .tick_ns = 32});
  EXPECT_EQ(few.group_names(few.bottleneck->groups), "consumer 1");
  // Within 3%, it is not.
  const WarpFigures close =
      figures_of({.consumers = 2, .mma_ns = 1'000, .last_consumer_extra_ns = 25, .tick_ns = 32});
  EXPECT_EQ(close.bottleneck->groups.size(), 2u);
}

// The tick of the timer is a third of such ranges, but not of hundreds of them together.
TEST(CriticalPathTest, AGroupOfShortRangesThatIsSlowerIsNamedAlone) {
  const auto limiting = [](int64_t load_ns, int64_t mma_ns, int64_t extra_ns) {
    const WarpFigures figures = figures_of({.iterations = 200,
                                            .consumers = 2,
                                            .load_ns = load_ns,
                                            .mma_ns = mma_ns,
                                            .last_consumer_extra_ns = extra_ns,
                                            .tick_ns = 32});
    return figures.group_names(figures.bottleneck->groups);
  };
  EXPECT_EQ(limiting(32, 96, 32), "consumer 1");
  EXPECT_EQ(limiting(50, 150, 30), "consumer 1");
  EXPECT_EQ(limiting(50, 250, 25), "consumer 1");
  for (const int64_t extra_ns : {0, 2, -2, 5, -5}) {
    EXPECT_EQ(limiting(50, 250, extra_ns), "consumer 0 and consumer 1") << extra_ns;
  }
}

// What a record costs makes a group slower that records more of them.
TEST(CriticalPathTest, TheCostOfMoreRecordsIsWithinTheError) {
  const auto error_with = [](int64_t cost_ps, bool has_more) {
    TestSession session;
    add_pipeline(session, {.blocks = 1, .load_ns = 900});
    session.data.tables.warp_launches[0].event_cost_ps = cost_ps;
    format::Batch& rows = session.data.tables.others.at(format::Kind::WarpSpan);
    const auto part = static_cast<int64_t>(session.name("part"));
    for (int64_t i = 0; has_more && i < 64; ++i) {
      rows.push_row({1'001'000 + i * 1'000, 10, 0, 1, 0, 0, 0, 1, part, 0, -1, 0, 0});
    }
    return warp_figures(session.finish()).at(0).bottleneck->error;
  };
  EXPECT_DOUBLE_EQ(error_with(100'000, false), 0.03);
  EXPECT_NEAR(error_with(100'000, true), 0.1, 0.01);
  EXPECT_DOUBLE_EQ(error_with(0, true), 0.03);
}

// A group that most of the path goes through without an event is not the limit for that.
TEST(CriticalPathTest, APathThatIsNotRecordedBlamesNoGroup) {
  const WarpFigures figures = figures_of({.load_ns = 100, .mma_ns = 400, .consumer_gap_ns = 600});
  EXPECT_TRUE(figures.bottleneck->groups.empty());
  EXPECT_FALSE(figures.bottleneck->gain.has_value());
  EXPECT_EQ(figures.event_name(figures.bottleneck->event), "(between events)");
  EXPECT_NEAR(figures.bottleneck->share, 0.6, 0.01);
  // Where less is not recorded, it is neither the group's share nor its gain.
  const WarpFigures less = figures_of({.load_ns = 100, .mma_ns = 600, .consumer_gap_ns = 400});
  EXPECT_EQ(less.group_names(less.bottleneck->groups), "consumer");
  EXPECT_NEAR(less.bottleneck->share, 0.6, 0.01);
  EXPECT_NEAR(*less.bottleneck->gain, 0.6, 0.01);
}

TEST(CriticalPathTest, WithoutFlowsGroupsAsBusyAsTheBusiestAreNamedWithIt) {
  const WarpFigures figures = figures_of({.consumers = 2, .has_flows = false});
  EXPECT_FALSE(figures.bottleneck->gain.has_value());
  EXPECT_EQ(figures.group_names(figures.bottleneck->groups), "consumer 0 and consumer 1");
}

// What is lost when nobody's work is on the path but waits are that nothing explains.
TEST(CriticalPathTest, WaitsThatNothingExplainsPromiseNothing) {
  TestSession session;
  add_pipeline(session, {.blocks = 1, .iterations = 10, .load_ns = 10, .mma_ns = 10});
  format::Batch& rows = session.data.tables.others.at(format::Kind::WarpSpan);
  session.data.tables.warp_launches[0].waits.push_back("wait for memory");
  const auto wait = static_cast<int64_t>(session.name("wait for memory"));
  rows.push_row({1'100'000, 1'000'000, 0, 1, 0, 0, 0, 1, wait, 0, -1, 0, 0});
  const WarpFigures figures = warp_figures(session.finish()).at(0);
  EXPECT_EQ(figures.group_names(figures.bottleneck->groups), "consumer");
  EXPECT_EQ(figures.event_name(figures.bottleneck->event), "wait for memory");
  EXPECT_LT(*figures.bottleneck->gain, 0.12);  // what lies between, at most
}

TEST(CriticalPathTest, WithoutFlowsTheBusiestGroupIsNamed) {
  const WarpFigures figures = figures_of({.load_ns = 1'500, .mma_ns = 1'000, .has_flows = false});
  EXPECT_EQ(figures.path.released, 0u);
  EXPECT_FALSE(figures.bottleneck->is_by_path);
  EXPECT_EQ(figures.group_names(figures.bottleneck->groups), "producer");
}

// Ends that lie on each other, waits of no length, flows in a circle: it ends, and adds up.
TEST(CriticalPathTest, EndsOfRecordsThatNoPipelineMakes) {
  TestSession session;
  add_pipeline(session, {.blocks = 1, .iterations = 1});
  format::Batch& rows = session.data.tables.others.at(format::Kind::WarpSpan);
  format::WarpLaunch& line = session.data.tables.warp_launches[0];
  line.flows.emplace_back("wait_full", "wait_empty");
  line.flows.emplace_back("wait_empty", "wait_full");
  const auto wait_full = static_cast<int64_t>(session.name("wait_full"));
  const auto wait_empty = static_cast<int64_t>(session.name("wait_empty"));
  for (int i = 0; i < 50; ++i) {
    rows.push_row({1'002'000 + i * 10, 500, 0, 1, 0, 0, 0, 0, wait_empty, 0, -1, 0, 0});
    rows.push_row({1'002'000 + i * 10, 500, 0, 1, 0, 0, 0, 1, wait_full, 0, -1, 0, 0});
    rows.push_row({INT64_MAX - i, INT64_MAX, 0, 2, 0, 0, 0, i % 2, wait_full, 0, 7, i % 5, 0});
    rows.push_row({INT64_MIN + i, -5, 0, 2, 0, 0, -1, -i, 1'000'000, 0, 7, 0, 0});
  }
  const auto all = warp_figures(session.finish());
  ASSERT_EQ(all.size(), 2u);
  for (const WarpFigures& figures : all) {
    int64_t sum = 0;
    for (const PathPart& part : figures.path.parts) sum += part.length_ns;
    EXPECT_EQ(sum, figures.path.length_ns);
  }
  EXPECT_EQ(all[0].path.length_ns, all[0].extent_ns);
  EXPECT_LE(*all[0].bottleneck->gain, 1);
}

}  // namespace
}  // namespace gpufl::analysis
