// SPDX-License-Identifier: Apache-2.0
#include "timeline/timeline.hpp"

#include <gtest/gtest.h>

#include "analysis/session/test_tables.hpp"
#include "analysis/warp/pipeline_simulator.hpp"
#include "timeline/run_axis.hpp"
#include "timeline/warp_tracks.hpp"

namespace gpufl::timeline {
namespace {

using analysis::RunData;
using analysis::testing::TestSession;

RunData run_of(TestSession& session) {
  RunData run;
  run.sessions.push_back(session.finish());
  run.offset_ns = {0};
  return run;
}

// Of warp groups.
size_t rows_of(const RunData& run) {
  return run.sessions[0].tables.others.at(format::Kind::WarpSpan).rows();
}

TEST(Timeline, KernelsThatOverlapOnAStreamAreInRowsOfTheirOwn) {
  TestSession session;
  session.kernel("a", 100, 50);
  session.kernel("b", 120, 100);
  session.kernel("c", 150, 10);
  session.kernel("d", 230, 10);
  const RunData run = run_of(session);
  const Timeline timeline(run.sessions[0].tables);
  ASSERT_EQ(timeline.streams.size(), 1U);
  const auto& rows = timeline.streams[0].rows;
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_EQ(rows[0].size(), 3U);  // a, c, d
  EXPECT_EQ(rows[0][1].start, 150);
  ASSERT_EQ(rows[1].size(), 1U);
  EXPECT_EQ(rows[1][0].start, 120);
}

TEST(Timeline, EachSliceIsInTheFirstRowThatHasRoom) {
  TestSession session;
  // Three rows at first; "d" fits the second, "e" the third alone.
  session.kernel("a", 0, 1000);
  session.kernel("b", 10, 100);
  session.kernel("c", 20, 50);
  session.kernel("d", 110, 500);
  session.kernel("e", 120, 10);
  const RunData run = run_of(session);
  const auto rows = Timeline(run.sessions[0].tables).streams.at(0).rows;
  ASSERT_EQ(rows.size(), 3U);
  ASSERT_EQ(rows[1].size(), 2U);
  EXPECT_EQ(rows[1][1].start, 110);
  ASSERT_EQ(rows[2].size(), 2U);
  EXPECT_EQ(rows[2][1].start, 120);
}

// Looking through all rows for each slice would take seconds.
TEST(Timeline, ManySlicesThatOverlapAreQuick) {
  constexpr int64_t kSlices = 30'000;
  TestSession session;
  for (int64_t i = 0; i < kSlices; ++i) session.kernel("a", i, kSlices);
  for (int64_t i = 0; i < kSlices; ++i) session.scope("crossing", i, kSlices);
  const RunData run = run_of(session);
  const Timeline timeline(run.sessions[0].tables);
  EXPECT_EQ(timeline.streams.at(0).rows.size(), static_cast<size_t>(kSlices));
  EXPECT_EQ(timeline.threads.at(0).rows.size(), static_cast<size_t>(kSlices));
}

// One whose call nobody saw, one whose call nobody saw end, and one of which all is known.
RunData run_with_unknown_calls() {
  TestSession session;
  session.kernel("before", 10, 5, {.thread = 0});
  session.kernel("cut", 30, 5, {.api_start = 20, .api_duration = analysis::kNoDuration});
  session.kernel("whole", 60, 5, {.api_start = 50, .api_duration = 4});
  return run_of(session);
}

TEST(Timeline, CallsThatAreNotKnownAreNotDrawn) {
  const RunData run = run_with_unknown_calls();
  const Timeline timeline(run.sessions[0].tables);
  ASSERT_EQ(timeline.threads.size(), 1U);
  EXPECT_NE(timeline.threads[0].thread, 0);
  ASSERT_EQ(timeline.threads[0].rows.size(), 1U);
  ASSERT_EQ(timeline.threads[0].rows[0].size(), 1U);
  EXPECT_EQ(timeline.threads[0].rows[0][0].start, 50);
}

TEST(Timeline, WhatAThreadDidNests) {
  TestSession session;
  const int64_t outer = session.scope("outer", 0, 100);
  session.scope("inner", 10, 50, {.parent = outer});
  session.scope("crossing", 90, 50);
  session.kernel("a", 30, 5, {.api_start = 20, .api_duration = 4});
  const RunData run = run_of(session);
  const Timeline timeline(run.sessions[0].tables);
  ASSERT_EQ(timeline.threads.size(), 1U);
  const auto& rows = timeline.threads[0].rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].size(), 3U);
  std::string order;
  walk(
      rows[0], [&](std::span<const Slice> group) { order += "(" + std::to_string(group[0].start); },
      [&](const Slice&) { order += ")"; });
  EXPECT_EQ(order, "(0(10(20)))");
  EXPECT_EQ(rows[1][0].start, 90);
}

TEST(WarpTracks, OneForEachGroupOfEachBlockBelowItsKernel) {
  TestSession session;
  const int64_t end = add_pipeline(session, {.blocks = 3, .sms = 2, .correlation = 7});
  session.kernel("void gemm<float>(float*)", 1'000'000, end, {.correlation = 7});
  // Crosses the end of a load: it needs a row of its own, and is not lost.
  auto& rows = session.data.tables.others.at(format::Kind::WarpSpan);
  const auto flight = static_cast<int64_t>(session.name("in flight"));
  rows.push_row({1'000'100, 5'000, 0, 1, 7, 0, 0, 0, flight, 0, -1, 0, 0});
  rows.push_row({1'000'200, 0, 0, 1, 7, 0, 0, 0, flight, 0, -1, 1, 0});
  const RunData run = run_of(session);
  const SessionTexts texts(run.sessions[0]);
  const std::vector<WarpTrack> tracks = warp_tracks(texts);
  ASSERT_EQ(tracks.size(), 6U);
  EXPECT_EQ(tracks[0].kernel, "inside gemm");
  EXPECT_EQ(tracks[0].sm_name(), "SM 0");
  EXPECT_EQ(tracks[0].name, "block 0, producer");
  EXPECT_EQ(tracks[2].name, "block 2, producer");  // on the same multiprocessor
  EXPECT_EQ(tracks[4].sm_name(), "SM 1");
  size_t slices = 0, instants = 0;
  for (const WarpTrack& track : tracks) {
    for (const SliceRow& row : track.rows) {
      slices += row.size();
      for (const Slice& slice : row) instants += is_instant(slice.kind) ? 1 : 0;
    }
  }
  EXPECT_EQ(tracks[0].rows.size(), 2U);
  EXPECT_EQ(slices, rows_of(run));
  EXPECT_EQ(instants, 1U);
}

TEST(Timeline, OneCallStandsForAllTheWorkThatItBrought) {
  TestSession session;
  for (const int64_t start : {100, 200, 300}) {
    session.kernel("node", start, 10, {.api_start = 50, .api_duration = 20});
  }
  session.kernel("other", 400, 10, {.api_start = 70, .api_duration = 20});
  const RunData run = run_of(session);
  const Timeline timeline(run.sessions[0].tables);
  std::vector<size_t> sizes;
  walk(
      timeline.threads[0].rows[0],
      [&](std::span<const Slice> group) { sizes.push_back(group.size()); }, [](const Slice&) {});
  EXPECT_EQ(sizes, (std::vector<size_t>{3, 1}));
}

TEST(Timeline, DamagedTimesDoNoHarm) {
  TestSession session;
  session.kernel("a", INT64_MAX - 5, 100);
  session.kernel("b", -50, -7);
  RunData run = run_of(session);
  const Timeline timeline(run.sessions[0].tables);
  EXPECT_EQ(timeline.slices(), 2U);
  EXPECT_EQ(timeline.streams[0].rows[0][0].end, -50);
  EXPECT_EQ(timeline.streams[0].rows[0][1].end, INT64_MAX);
  EXPECT_EQ(first_time(run), -50);
}

TEST(RunAxis, ProcessesWithOneNumberAreToldApart) {
  RunData run;
  run.sessions.resize(3);
  for (auto& session : run.sessions) session.summary.header.pid = 7;
  EXPECT_EQ(distinct_pids(run), (std::vector<int64_t>{7, 8, 9}));
}

}  // namespace
}  // namespace gpufl::timeline
