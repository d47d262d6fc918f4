// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/warp_figures.hpp"

#include <gtest/gtest.h>

#include "analysis/warp/pipeline_simulator.hpp"

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

TEST(WarpFiguresTest, SharesOfAGroup) {
  const WarpFigures figures = figures_of({.load_ns = 400, .mma_ns = 1'000, .consumer_gap_ns = 250});
  const double n = 64, extent = 400 + n * 1'000 + (n - 1) * 250;
  const WarpGroupFigures& consumer = figures.times.groups.at(1);
  EXPECT_EQ(consumer.lanes, 4u);
  EXPECT_NEAR(consumer.share(consumer.busy_ns), n * 1'000 / extent, 1e-9);
  EXPECT_NEAR(consumer.share(consumer.wait_ns), 400 / extent, 1e-9);
  EXPECT_NEAR(consumer.share(consumer.bubble_ns()), (n - 1) * 250 / extent, 1e-9);
  const WarpGroupFigures& producer = figures.times.groups.at(0);
  EXPECT_EQ(producer.bubble_ns(), 0);
  EXPECT_EQ(producer.busy_ns, 4 * 64 * 400);
}

TEST(WarpFiguresTest, OverlapOfProducerAndConsumer) {
  const WarpFigures figures = figures_of({.load_ns = 400, .mma_ns = 1'000});
  ASSERT_EQ(figures.times.overlaps.size(), 1u);
  const WarpOverlap& overlap = figures.times.overlaps[0];
  EXPECT_EQ(overlap.both_ns, 4 * 63 * 400);  // all loads but the first
  EXPECT_EQ(overlap.extent_ns, 4 * (400 + 64 * 1'000));
}

TEST(WarpFiguresTest, SharesHoldOnTheTimersTick) {
  const WarpFigures figures =
      figures_of({.load_ns = 410, .mma_ns = 1'013, .consumer_gap_ns = 247, .tick_ns = 32});
  const double n = 64, extent = 410 + n * 1'013 + (n - 1) * 247;
  const WarpGroupFigures& consumer = figures.times.groups.at(1);
  EXPECT_NEAR(consumer.share(consumer.bubble_ns()), (n - 1) * 247 / extent, 0.01);
  EXPECT_NEAR(consumer.share(consumer.busy_ns), n * 1'013 / extent, 0.01);
}

// A wait inside of a range that is open around it is waiting; what is around it is not.
TEST(WarpFiguresTest, AWaitCountsAsWaitingWhateverIsOpenAroundIt) {
  TestSession session;
  add_pipeline(session, {.blocks = 1, .iterations = 1, .load_ns = 400, .mma_ns = 1'000});
  format::Batch& rows = session.data.tables.others.at(format::Kind::WarpSpan);
  rows.push_row({1'000'000, 1'400, 0, 1, 0, 0, 0, 1, static_cast<int64_t>(session.name("tile")), 0,
                 -1, 0, 0});
  const WarpFigures figures = warp_figures(session.finish()).at(0);
  const WarpGroupFigures& consumer = figures.times.groups.at(1);
  EXPECT_EQ(consumer.wait_ns, 400);
  EXPECT_EQ(consumer.busy_ns, 1'000);
  EXPECT_EQ(consumer.bubble_ns(), 0);
}

TEST(WarpFiguresTest, SteadyStateWithoutFillAndDrain) {
  const WarpFigures limited = figures_of({.load_ns = 400, .mma_ns = 1'000, .consumer_gap_ns = 50});
  ASSERT_EQ(limited.steady.size(), 2u);
  for (const SteadyState& state : limited.steady) {
    EXPECT_EQ(state.iteration_ns.count, 4u * (63 - 2 * 4));
    EXPECT_EQ(state.left_out, 4u * 2 * 4);
    EXPECT_NEAR(state.iteration_ns.median, 1'050, 10.5);
    EXPECT_NEAR(static_cast<double>(state.iteration_ns.p99), 1'050, 10.5);
  }
  EXPECT_NEAR(limited.steady[1].iteration_ns.mean, 1'050, 10.5);
  EXPECT_TRUE(figures_of({.iterations = 5}).steady.empty());
}

TEST(WarpFiguresTest, BalanceOfMultiprocessorsAndWaves) {
  // Blocks 0, 2, 4 on one, 1 and 3 on the other; the next one there starts when one has ended.
  const WarpFigures figures = figures_of({.blocks = 5,
                                          .iterations = 10,
                                          .load_ns = 100,
                                          .mma_ns = 1'000,
                                          .sms = 2,
                                          .block_delay_ns = 10'100 / 2});
  const SmBalance& balance = *figures.balance;
  EXPECT_EQ(balance.sms, 2u);
  EXPECT_EQ(balance.resident, 1u);
  EXPECT_EQ(balance.blocks_per_sm.max, 3);
  EXPECT_EQ(balance.last_sm, 0);
  ASSERT_EQ(balance.waves.size(), 3u);
  EXPECT_EQ(balance.waves[0].blocks, 2u);
  EXPECT_EQ(balance.waves[2].blocks, 1u);
  EXPECT_NEAR(balance.imbalance(), 1 - 2.5 / 3, 1e-9);
}

TEST(WarpFiguresTest, BalanceIsUnknownWithoutMultiprocessors) {
  TestSession session;
  add_pipeline(session, {});
  auto& rows = session.data.tables.others.at(format::Kind::WarpSpan);
  rows.mutable_column(format::warp_span_column::kSm).assign(rows.rows(), -1);
  EXPECT_FALSE(warp_figures(session.finish()).at(0).balance.is_known());
}

TEST(WarpFiguresTest, SpansOutsideOfTheKernelAreCounted) {
  TestSession session;
  const int64_t end = add_pipeline(session, {.blocks = 1, .correlation = 9});
  session.kernel("void gemm<float>(int)", 1'000'000 - 50, end - 1'000'000, {.correlation = 9});
  const auto inside = warp_figures(session.finish()).at(0);
  ASSERT_TRUE(inside.joined.is_known());
  EXPECT_EQ(inside.joined->outside, 0u);  // 50 ns beyond, of an error of 100
  EXPECT_EQ(inside.kernel, "gemm");

  TestSession early;
  add_pipeline(early, {.blocks = 1, .correlation = 9});
  early.kernel("gemm", 1'000'000, end - 1'000'000 - 500, {.correlation = 9});
  const auto outside = warp_figures(early.finish()).at(0);
  EXPECT_EQ(outside.joined->outside, 1u);  // the last mma
  EXPECT_EQ(outside.joined->worst_ns, 500);
}

TEST(WarpFiguresTest, AKernelOfAnotherDeviceOrNoneIsNotJoined) {
  TestSession session;
  const int64_t end = add_pipeline(session, {.correlation = 9});
  session.kernel("gemm", 1'000'000, end, {.device = 1, .correlation = 9});
  EXPECT_FALSE(warp_figures(session.finish()).at(0).joined.is_known());
}

TEST(WarpFiguresTest, OptionsChooseLaunches) {
  TestSession session;
  add_pipeline(session, {.launch = 1});
  add_pipeline(session, {.launch = 2, .start_ns = 9'000'000});
  const SessionData data = session.finish();
  EXPECT_EQ(warp_figures(data).size(), 2u);
  AnalysisOptions elsewhere, late;
  elsewhere.device = 3;
  EXPECT_TRUE(warp_figures(data, elsewhere).empty());
  late.window = Interval{5'000'000, 10'000'000};
  ASSERT_EQ(warp_figures(data, late).size(), 1u);
  EXPECT_EQ(warp_figures(data, late)[0].launch.launch, 2);
}

TEST(WarpFiguresTest, UnmatchedInstantsAndShortSpans) {
  TestSession session;
  add_pipeline(session, {.blocks = 1, .iterations = 10, .load_ns = 64, .tick_ns = 32});
  auto& rows = session.data.tables.others.at(format::Kind::WarpSpan);
  const auto mark = static_cast<int64_t>(session.name("mark"));
  rows.push_row({1'000'001, 0, 0, 1, 0, 0, 0, 0, mark, 0, -1, 1, 0});
  rows.push_row({1'000'002, 0, 0, 1, 0, 0, 0, 0, mark, 0, -1, 2, 0});
  const WarpFigures figures = warp_figures(session.finish()).at(0);
  EXPECT_EQ(figures.instants, 1u);
  EXPECT_EQ(figures.unmatched, 1u);
  EXPECT_DOUBLE_EQ(figures.span_error_ns, 32);
  for (const WarpEventFigures& event : figures.times.groups[0].events) {
    if (figures.event_name(event.event) == "load") {
      EXPECT_TRUE(event.is_short);
    }
    if (figures.event_name(event.event) == "mark") {
      EXPECT_EQ(event.duration_ns.count, 0u);
    }
  }
}

TEST(WarpFiguresTest, ALineWithoutRowsAndRowsWithoutALine) {
  TestSession session;
  add_pipeline(session, {.launch = 1});
  session.data.tables.warp_launches[0].launch = 2;
  const auto all = warp_figures(session.finish());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_FALSE(all[0].has_line);
  EXPECT_EQ(all[0].groups[0].name, "group 0");
  EXPECT_TRUE(all[1].has_line);
  EXPECT_EQ(all[1].spans, 0u);
  EXPECT_FALSE(all[1].bottleneck.has_value());
}

}  // namespace
}  // namespace gpufl::analysis
