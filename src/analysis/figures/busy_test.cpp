// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/busy.hpp"

#include <gtest/gtest.h>

#include <map>

#include "analysis/figures/recorded_time.hpp"
#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

AnalysisOptions full() { return {}; }

TEST(Busy, AnEmptySessionHasNoDevices) {
  EXPECT_TRUE(busy_times(TestSession().finish(), full()).empty());
}

TEST(Busy, WaitsAreNoWork) {
  TestSession session;
  session.kernel("a", 0, 10);
  session.wait(3, 20, 10, {.device = -1});
  const auto devices = busy_times(session.finish(), full());
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].device, 0);
}

TEST(Busy, ADeviceWithoutWorkIsIdle) {
  TestSession session;
  session.data.summary.duration_ns = 1000;
  base::Json fact = base::Json::object();
  fact.set("device", 3).set("name", "NVIDIA H200");
  session.data.summary.devices.push_back(fact);
  const auto devices = busy_times(session.finish(), full());
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].device, 3);
  EXPECT_EQ(devices[0].name, "NVIDIA H200");
  EXPECT_EQ(devices[0].busy_ns, 0);
  EXPECT_EQ(devices[0].recorded_ns, 1000);
  EXPECT_EQ(devices[0].busy_share, 0);
  EXPECT_EQ(devices[0].idle.count, 0u);
}

TEST(Busy, WorkSideBySideCountsOnce) {
  TestSession session;
  session.data.summary.duration_ns = 1000;
  session.kernel("a", 0, 300);
  session.kernel("b", 100, 100, {.stream = 8});  // inside a
  session.kernel("c", 250, 150, {.stream = 8});  // 50 with a, then alone until 400
  session.copy(1, 64, 350, 150);                 // until 500
  session.fill(64, 500, 100);                    // touches: no gap
  session.graph_launch(1, 2, 650, 50);
  const auto devices = busy_times(session.finish(), full());
  ASSERT_EQ(devices.size(), 1u);
  const DeviceBusy& busy = devices[0];
  EXPECT_EQ(busy.busy_ns, 650);
  EXPECT_EQ(busy.kernel_ns, 400);
  EXPECT_EQ(busy.kernel_sum_ns, 550);
  EXPECT_EQ(busy.copy_ns, 150);
  EXPECT_EQ(busy.fill_ns, 100);
  EXPECT_EQ(busy.graph_ns, 50);
  EXPECT_DOUBLE_EQ(busy.busy_share, 0.65);
  EXPECT_EQ(busy.kernels, 3u);
  EXPECT_EQ(busy.copies, 1u);
  EXPECT_EQ(busy.fills, 1u);
  EXPECT_EQ(busy.graphs, 1u);
  EXPECT_EQ(busy.first_ns, 0);
  EXPECT_EQ(busy.last_ns, 700);
}

TEST(Busy, ShareIsNeverAboveOne) {
  TestSession session;
  session.data.summary.duration_ns = 100;  // the log's end is told too early
  for (int i = 0; i < 10; ++i) session.kernel("k", i, 500, {.stream = i});
  const auto devices = busy_times(session.finish(), full());
  EXPECT_EQ(devices[0].busy_ns, 509);
  EXPECT_EQ(devices[0].busy_share, 1);
}

TEST(Busy, TheSeriesHasNoPointWhereWorkWasLost) {
  TestSession session;
  session.data.summary.duration_ns = 1000;
  session.kernel("k", 0, 100);
  session.kernel("k", 450, 50);
  session.data.summary.lost_windows.push_back(
      {format::Channel::Device, 2, 2, LostWindow::Reason::Missing, {100, 450}});
  AnalysisOptions options = full();
  options.series_points = 10;
  const auto devices = busy_times(session.finish(), options);
  std::map<int64_t, double> shares;
  for (const SeriesPoint& point : devices.at(0).busy_series.points) {
    shares[point.time_ns] = point.mean;
  }
  EXPECT_EQ(shares.at(0), 1);
  EXPECT_FALSE(shares.contains(200));
  EXPECT_EQ(shares.at(400), 1);  // of what is known of it
  EXPECT_EQ(shares.at(600), 0);
  EXPECT_EQ(shares.size(), 7u);
}

TEST(Busy, ZeroDurationsCountAndCoverNothing) {
  TestSession session;
  session.data.summary.duration_ns = 100;
  session.kernel("k", 10, 0);
  session.kernel("k", 20, 10);
  session.kernel("k", 40, 0);
  session.kernel("k", 50, 10);
  AnalysisOptions options;
  options.minimum_gap_ns = 0;
  const auto devices = busy_times(session.finish(), options);
  EXPECT_EQ(devices[0].kernels, 4u);
  EXPECT_EQ(devices[0].busy_ns, 20);
  EXPECT_EQ(devices[0].concurrency.max, 1u);
  EXPECT_EQ(devices[0].idle.count, 1u);
  EXPECT_EQ(devices[0].idle.total_ns, 20);
}

TEST(Busy, ConcurrencyIsTimeByNumberOfKernels) {
  TestSession session;
  session.kernel("a", 0, 100, {.stream = 1});
  session.kernel("b", 50, 100, {.stream = 2});  // two from 50 to 100
  session.kernel("c", 60, 20, {.stream = 3});   // three from 60 to 80
  session.kernel("d", 150, 10, {.stream = 1});  // begins as b ends
  const Concurrency concurrency = busy_times(session.finish(), full())[0].concurrency;
  EXPECT_EQ(concurrency.one_ns, 50 + 50 + 10);
  EXPECT_EQ(concurrency.two_ns, 30);
  EXPECT_EQ(concurrency.more_ns, 20);
  EXPECT_EQ(concurrency.max, 3u);
  EXPECT_DOUBLE_EQ(concurrency.mean, 230.0 / 160.0);
}

TEST(Busy, DevicesAreApart) {
  TestSession session;
  session.data.summary.duration_ns = 200;
  session.kernel("a", 0, 100, {.device = 1});
  session.kernel("a", 50, 100, {.device = 0});
  const SessionData data = session.finish();
  const auto devices = busy_times(data, full());
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].device, 0);
  EXPECT_EQ(devices[0].busy_ns, 100);
  EXPECT_EQ(devices[1].busy_ns, 100);
  AnalysisOptions options;
  options.device = 1;
  const auto one = busy_times(data, options);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].device, 1);
}

TEST(Busy, AWindowCutsWorkAtItsEnds) {
  TestSession session;
  session.data.summary.duration_ns = 1000;
  session.kernel("before", 0, 150);  // 50 of it inside
  session.kernel("inside", 200, 50);
  session.kernel("across", 290, 100);  // 10 of it inside
  AnalysisOptions options;
  options.window = Interval{100, 300};
  const DeviceBusy busy = busy_times(session.finish(), options)[0];
  EXPECT_EQ(busy.busy_ns, 110);
  EXPECT_EQ(busy.recorded_ns, 200);
  EXPECT_EQ(busy.kernels, 2u);  // those that begin in it
  EXPECT_DOUBLE_EQ(busy.busy_share, 0.55);
}

base::Json event(const char* name, int64_t time) {
  base::Json json = base::Json::object();
  json.set("name", name).set("time", time);
  return json;
}

TEST(Busy, PausesAreNotRecordedTime) {
  TestSession session;
  session.data.summary.duration_ns = 1000;
  session.data.summary.events = {event("recording_paused", 200), event("mark", 250),
                                 event("recording_resumed", 700)};
  EXPECT_EQ(recorded_spans(session.data, full()), (Intervals{{0, 200}, {700, 1000}}));
  session.data.summary.events = {event("recording_resumed", 400)};  // began dormant
  EXPECT_EQ(recorded_spans(session.data, full()), (Intervals{{400, 1000}}));
  AnalysisOptions options;
  options.window = Interval{300, 500};
  EXPECT_EQ(recorded_spans(session.data, options), (Intervals{{400, 500}}));
}

TEST(Busy, WhatWasDeletedIsNotRecordedTime) {
  TestSession session;
  session.data.summary.duration_ns = 1000;
  session.kernel("kept", 600, 100);
  session.copy(1, 8, 500, 10);
  session.data.summary.rows["kernel"] = 1;
  format::WriterCounts& writer = session.data.summary.ledger.emplace().writer;
  writer.rows["kernel"] = 5;
  SessionData data = session.finish();
  EXPECT_EQ(recorded_spans(data, full()), (Intervals{{0, 1000}}));  // dropped, who knows when
  data.summary.ledger->writer.rows_deleted = 4;
  EXPECT_EQ(recorded_spans(data, full()), (Intervals{{500, 1000}}));
  EXPECT_EQ(busy_times(data, full())[0].recorded_ns, 500);
  data.summary.rows["kernel"] = 5;  // the rows of others were
  EXPECT_EQ(recorded_spans(data, full()), (Intervals{{0, 1000}}));
}

TEST(Busy, TheSeriesIsTheShareOfEachPart) {
  TestSession session;
  session.data.summary.duration_ns = 400;
  session.kernel("a", 50, 100);
  session.kernel("b", 60, 20, {.stream = 8});
  AnalysisOptions options;
  options.series_points = 4;
  const Series series = busy_times(session.finish(), options)[0].busy_series;
  ASSERT_EQ(series.points.size(), 4u);
  EXPECT_DOUBLE_EQ(series.points[0].mean, 0.5);
  EXPECT_DOUBLE_EQ(series.points[1].mean, 0.5);
  EXPECT_DOUBLE_EQ(series.points[2].mean, 0);
}

TEST(Busy, IntervalsOfSomeKinds) {
  TestSession session;
  session.kernel("a", 0, 100);
  session.copy(1, 8, 50, 100);
  session.fill(8, 300, 10);
  const SessionData data = session.finish();
  EXPECT_EQ(busy_intervals(data, 0), (Intervals{{0, 150}, {300, 310}}));
  EXPECT_EQ(busy_intervals(data, 0, {}, {.kernels = false, .fills = false}),
            (Intervals{{50, 150}}));
  EXPECT_TRUE(busy_intervals(data, 1).empty());
}

TEST(Gaps, LongestComeFirstWithTheirNeighbours) {
  TestSession session;
  session.kernel("a", 0, 100);
  session.copy(1, 8, 5'100, 100);    // after 5 us
  session.kernel("b", 5'700, 100);   // after 500 ns
  session.kernel("c", 25'800, 100);  // after 20 us
  AnalysisOptions options;
  options.top = 1;
  const SessionData data = session.finish();
  const IdleTime idle = busy_times(data, options)[0].idle;
  EXPECT_EQ(idle.count, 2u);
  EXPECT_EQ(idle.total_ns, 25'000);
  EXPECT_EQ(idle.short_ns, 500);
  ASSERT_EQ(idle.longest.size(), 1u);
  EXPECT_EQ(idle.longest[0].span, (Interval{5'800, 25'800}));
  EXPECT_EQ(idle.longest[0].before, (WorkRow{WorkKind::Kernel, 1}));
  EXPECT_EQ(idle.longest[0].after, (WorkRow{WorkKind::Kernel, 2}));
  EXPECT_EQ(idle.classes[0].count, 1u);  // under 1 us
  EXPECT_EQ(idle.classes[1].count, 1u);
  EXPECT_EQ(idle.classes[2].total_ns, 20'000);
  const auto gaps = idle_gaps(data, options);
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[0].after, (WorkRow{WorkKind::Copy, 0}));
}

TEST(Gaps, WhatEndsLastIsBeforeAGap) {
  TestSession session;
  session.kernel("long", 0, 5'000, {.stream = 1});
  session.kernel("short", 100, 10, {.stream = 2});
  session.kernel("next", 10'000, 10);
  const auto gaps = idle_gaps(session.finish(), full());
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].span, (Interval{5'000, 10'000}));
  EXPECT_EQ(gaps[0].before.row, 0u);
}

TEST(Gaps, NoneTouchesAPause) {
  TestSession session;
  session.data.summary.duration_ns = 100'000;
  session.data.summary.events = {event("recording_paused", 12'000),
                                 event("recording_resumed", 80'000)};
  session.kernel("a", 0, 1'000);
  session.kernel("b", 3'000, 7'000);   // after 2 us
  session.kernel("c", 85'000, 1'000);  // the pause was before it
  session.kernel("d", 90'000, 1'000);  // after 4 us
  const SessionData data = session.finish();
  const auto gaps = idle_gaps(data, full());
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[0].span, (Interval{1'000, 3'000}));
  EXPECT_EQ(gaps[1].span, (Interval{86'000, 90'000}));
  const DeviceBusy busy = busy_times(data, full())[0];
  EXPECT_EQ(busy.idle.total_ns, 6'000);
  EXPECT_EQ(busy.recorded_ns, 32'000);
  EXPECT_EQ(busy.before_ns, 0);
  EXPECT_EQ(busy.after_ns, 9'000);
}

TEST(Busy, PartsMakeUpTheRecordedTime) {
  TestSession session;
  session.data.summary.duration_ns = 100'000;
  session.kernel("a", 10'000, 5'000);
  session.copy(1, 8, 15'500, 1'500);    // after half a microsecond
  session.kernel("b", 20'000, 70'000);  // after 3 us
  const SessionData data = session.finish();
  const DeviceBusy busy = busy_times(data, full())[0];
  EXPECT_EQ(busy.before_ns, 10'000);
  EXPECT_EQ(busy.after_ns, 10'000);
  EXPECT_EQ(busy.busy_ns + busy.idle.total_ns + busy.idle.short_ns + busy.before_ns + busy.after_ns,
            busy.recorded_ns);
  AnalysisOptions options;
  options.window = Interval{12'000, 95'000};
  const DeviceBusy part = busy_times(data, options)[0];
  EXPECT_EQ(part.before_ns, 0);
  EXPECT_EQ(part.after_ns, 5'000);
}

TEST(Gaps, WorkOfOtherScopesIsNoneOfAScope) {
  TestSession session;
  const int64_t mine = session.scope("mine", 0, 100'000);
  const int64_t other = session.scope("other", 0, 100'000, {.thread = 2});
  session.kernel("a", 0, 10'000, {.scope = mine});
  session.kernel("b", 12'000, 20'000, {.scope = other});  // ends a gap of 2 us
  session.kernel("c", 35'000, 1'000, {.scope = mine});    // one of 3 us
  AnalysisOptions options;
  options.scope = "mine";
  const SessionData data = session.finish();
  const auto gaps = idle_gaps(data, options);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].span, (Interval{32'000, 35'000}));
  const DeviceBusy busy = busy_times(data, options)[0];
  EXPECT_EQ(busy.idle.total_ns, 3'000);
  EXPECT_EQ(busy.busy_ns, 11'000);
}

}  // namespace
}  // namespace gpufl::analysis
