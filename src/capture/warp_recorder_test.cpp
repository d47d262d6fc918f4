// SPDX-License-Identifier: Apache-2.0
#include "capture/warp_recorder.hpp"

#include <random>

#include <gtest/gtest.h>

#include "backend/recording_sink.hpp"
#include "capture/warp_words.hpp"
#include "format/warp_launch.hpp"

namespace gpufl::capture {
namespace {

using backend::RecordingSink;
using format::Kind;
using format::WarpEnding;
namespace span = format::warp_span_column;
namespace kernel = format::kernel_column;

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kAheadNs = 7'000'000'123;  // of the GPU's clock
constexpr int64_t kErrorNs = 400;
constexpr int64_t kLowHalfNs = int64_t{1} << 32;

// A GPU's clock that is ahead of ours and known that well.
class PlayedClock final : public backend::DeviceClock {
 public:
  base::Result<int64_t> measure(int64_t) override { return int64_t{0}; }
  bool awaits_records(int64_t) const override { return awaits; }
  std::optional<backend::DeviceInterval> place(int64_t device, uint64_t first,
                                               uint64_t last) const override {
    if (device != 0) return std::nullopt;
    return backend::DeviceInterval{static_cast<int64_t>(first) - kAheadNs,
                                   static_cast<int64_t>(last) - kAheadNs, kErrorNs, 32};
  }
  std::optional<uint64_t> stamp_at(int64_t, int64_t monotonic_ns) const override {
    return stamp(monotonic_ns);
  }
  static uint64_t stamp(int64_t monotonic_ns) {
    return static_cast<uint64_t>(monotonic_ns + kAheadNs);
  }
  bool awaits = false;
};

class WarpRecorderTest : public testing::Test {
 protected:
  static uint64_t stamp(int64_t session_ns) { return PlayedClock::stamp(kStartNs + session_ns); }
  // A kernel of thread 5.
  void add_kernel(int64_t start_ns, int64_t duration_ns, int64_t correlation, int64_t thread = 5) {
    format::Batch rows(Kind::Kernel);
    const auto set = [&](size_t column, int64_t value) {
      rows.mutable_column(column).push_back(value);
    };
    set(kernel::kStart, start_ns);
    set(kernel::kDuration, duration_ns);
    set(kernel::kDevice, 0);
    set(kernel::kCorrelation, correlation);
    set(kernel::kThread, thread);
    set(kernel::kApiStart, start_ns - 5'000);
    rows.set_rows(1);
    recorder_.on_rows(rows);
  }
  // Taken a while ago, at a session time of one second.
  static WarpscopeCapture capture(std::vector<uint64_t> words) {
    WarpscopeCapture capture;
    capture.words = std::move(words);
    capture.device = 0;
    capture.thread = 5;
    capture.opened_ns = kStartNs;
    capture.taken_ns = kStartNs + kSecondNs;
    capture.is_followed = true;
    return capture;
  }
  // Two groups of one block, from 1,000 to 9,000 ns after `begin_ns`.
  static WarpWords pipeline(int64_t begin_ns) {
    ws::Names names;
    names.kernel = "gemm";
    names.events = {{0, "wait"}, {1, "load"}};
    names.groups = {{0, "tma"}, {1, "mma"}};
    names.waits = {0};
    names.flows = {{1, 0}};
    WarpWords words(1, 2, 16, names);
    words.span(0, 0, 1, stamp(begin_ns + 1'000), stamp(begin_ns + 3'000));
    words.add(0, 0, WarpRecord::Instant, 7, stamp(begin_ns + 4'000));
    words.add(0, 0, WarpRecord::Finalize, 0, stamp(begin_ns + 8'000));
    words.span(0, 1, 0, stamp(begin_ns + 1'500), stamp(begin_ns + 3'500));
    words.add(0, 1, WarpRecord::Begin, 1, stamp(begin_ns + 5'000));
    words.add(0, 1, WarpRecord::Finalize, 0, stamp(begin_ns + 9'000));
    return words;
  }
  void write(bool has_tracer = true, bool everything = false) {
    recorder_.write(kNowNs, has_tracer, everything, sink_);
  }
  format::WarpLaunch launch(size_t number = 0) {
    return format::read_warp_launch(sink_.lines[Kind::WarpLaunch].at(number));
  }
  size_t launches() { return sink_.lines[Kind::WarpLaunch].size(); }
  std::vector<RecordingSink::Row>& rows() { return sink_.rows[Kind::WarpSpan]; }

  static constexpr int64_t kStartNs = 60 * kSecondNs;  // of the session, on the monotonic clock
  // Of the session. What was taken after a second of it has waited long enough for a kernel.
  static constexpr int64_t kNowNs = 3600 * kSecondNs;
  PlayedClock clock_;
  WarpRecorder recorder_{&clock_, kStartNs};
  RecordingSink sink_;
};

TEST_F(WarpRecorderTest, LiesInItsKernelOnTheSessionsClock) {
  add_kernel(200'000, 50'000, 41);
  add_kernel(600'000, 10'000, 42);
  add_kernel(900'000, 50'000, 43);
  ASSERT_TRUE(recorder_.take(capture(pipeline(600'000).capture())));
  write();
  ASSERT_EQ(launches(), 1u);
  const format::WarpLaunch line = launch();
  EXPECT_EQ(line.launch, 1);
  EXPECT_EQ(line.time_ns, 601'000);
  EXPECT_EQ(line.duration_ns, 8'000);
  EXPECT_EQ(line.correlation, 42);
  EXPECT_EQ(line.join, "time");
  EXPECT_EQ(line.device, 0);
  EXPECT_EQ(line.error_ns, kErrorNs);
  EXPECT_EQ(line.tick_ps, 32'000);
  EXPECT_EQ(line.kernel, "gemm");
  EXPECT_EQ(line.launch_id, 4711u);
  EXPECT_EQ(line.event_cost_ps, 17'700);
  EXPECT_EQ(line.blocks, 1);
  EXPECT_EQ(line.groups, 2);
  EXPECT_EQ(line.group_names, (std::vector<std::string>{"tma", "mma"}));
  EXPECT_EQ(line.waits, std::vector<std::string>{"wait"});
  ASSERT_EQ(line.flows.size(), 1u);
  EXPECT_EQ(line.flows[0], (std::pair<std::string, std::string>{"load", "wait"}));
  EXPECT_EQ(line.records, 6);

  ASSERT_EQ(rows().size(), 4u);
  const auto expect_row = [&](size_t i, int64_t start, int64_t duration, int64_t group,
                              const char* event, WarpEnding ending) {
    const RecordingSink::Row& row = rows()[i];
    EXPECT_EQ(row[span::kStart], start) << i;
    EXPECT_EQ(row[span::kDuration], duration) << i;
    EXPECT_EQ(row[span::kGroup], group) << i;
    EXPECT_EQ(sink_.value(format::Dict::Name, row[span::kEvent]), event) << i;
    EXPECT_EQ(row[span::kEnding], static_cast<int64_t>(ending)) << i;
    EXPECT_EQ(row[span::kCorrelation], 42);
    EXPECT_EQ(row[span::kLaunch], 1);
    EXPECT_EQ(row[span::kError], kErrorNs);
    EXPECT_EQ(row[span::kSm], 0);
    EXPECT_EQ(row[span::kDevice], 0);
  };
  expect_row(0, 601'000, 2'000, 0, "load", WarpEnding::Normal);
  expect_row(1, 604'000, 0, 0, "event_7", WarpEnding::Instant);
  expect_row(2, 601'500, 2'000, 1, "wait", WarpEnding::Normal);
  expect_row(3, 605'000, 0, 1, "load", WarpEnding::NoEnd);
  EXPECT_EQ(sink_.value(format::Dict::Name, rows()[2][span::kGroupName]), "mma");
}

TEST_F(WarpRecorderTest, Version1AloneIsPlacedByItsLowHalf) {
  add_kernel(600'000, 10'000, 42);
  WarpscopeCapture taken = capture(pipeline(600'000).region());
  taken.event_names = {{1, "copy"}};
  taken.kernel = "mine";
  ASSERT_TRUE(recorder_.take(std::move(taken)));
  write();
  ASSERT_EQ(launches(), 1u);
  EXPECT_EQ(launch().time_ns, 601'000);
  EXPECT_EQ(launch().correlation, 42);
  EXPECT_EQ(launch().kernel, "mine");
  EXPECT_FALSE(launch().launch_id);
  EXPECT_FALSE(launch().event_cost_ps);
  ASSERT_EQ(rows().size(), 4u);
  EXPECT_EQ(rows()[0][span::kStart], 601'000);
  EXPECT_EQ(sink_.value(format::Dict::Name, rows()[0][span::kEvent]), "copy");
  EXPECT_EQ(rows()[0][span::kGroupName], RecordingSink::kAbsent);
}

// Its low half came again since: the kernel says which time was meant.
TEST_F(WarpRecorderTest, Version1AloneIsFoundHoweverLateItIsTaken) {
  add_kernel(600'000, 10'000, 42);
  add_kernel(600'000 + 3 * kLowHalfNs + 50'000, 10'000, 43);
  WarpscopeCapture taken = capture(pipeline(600'000).region());
  taken.taken_ns = kStartNs + 5 * kLowHalfNs;
  for (const int64_t opened_ns : {kStartNs, int64_t{0}}) {
    taken.opened_ns = opened_ns;
    ASSERT_TRUE(recorder_.take(taken));
  }
  write();
  ASSERT_EQ(launches(), 2u);
  for (const size_t number : {0, 1}) {
    EXPECT_EQ(launch(number).time_ns, 601'000);
    EXPECT_EQ(launch(number).error_ns, kErrorNs);
    EXPECT_EQ(launch(number).correlation, 42);
  }
}

TEST_F(WarpRecorderTest, Version1AloneIsNotPlacedWhereSeveralTimesFit) {
  add_kernel(600'000, 10'000, 42);
  add_kernel(600'000 + kLowHalfNs, 10'000, 43);
  WarpscopeCapture taken = capture(pipeline(600'000).region());
  taken.taken_ns = kStartNs + 2 * kLowHalfNs;
  ASSERT_TRUE(recorder_.take(taken));
  taken.correlation = 42;
  ASSERT_TRUE(recorder_.take(taken));
  taken.correlation = 44;  // which was not recorded
  ASSERT_TRUE(recorder_.take(taken));
  write();
  ASSERT_EQ(launches(), 3u);
  for (const size_t number : {0, 2}) {
    EXPECT_FALSE(launch(number).error_ns);
    EXPECT_EQ(launch(number).correlation, 0);
    ASSERT_FALSE(launch(number).problems.empty());
    EXPECT_NE(launch(number).problems[0].find("low 32 bits"), std::string::npos);
  }
  EXPECT_EQ(launch(1).correlation, 42);
  EXPECT_EQ(launch(1).time_ns, 601'000);
  EXPECT_EQ(launch(1).error_ns, kErrorNs);
}

// The error says that it may be anywhere in there.
TEST_F(WarpRecorderTest, Version1AloneInALongKernelIsJoinedAndNoMore) {
  add_kernel(600'000, 2 * kLowHalfNs, 42);
  WarpscopeCapture taken = capture(pipeline(600'000).region());
  taken.taken_ns = kStartNs + 2 * kLowHalfNs + 10'000'000;
  ASSERT_TRUE(recorder_.take(std::move(taken)));
  write();
  EXPECT_EQ(launch().correlation, 42);
  ASSERT_TRUE(launch().error_ns);
  EXPECT_GE(*launch().error_ns, std::abs(launch().time_ns - 601'000));
  ASSERT_FALSE(launch().problems.empty());
  EXPECT_NE(launch().problems[0].find("low 32 bits"), std::string::npos);
}

TEST_F(WarpRecorderTest, OfKernelsAtTheSameTimeTheThreadsOwn) {
  add_kernel(600'000, 10'000, 42, 5);
  add_kernel(599'000, 20'000, 43, 6);
  ASSERT_TRUE(recorder_.take(capture(pipeline(600'000).capture())));
  write();
  EXPECT_EQ(launch().correlation, 42);
}

TEST_F(WarpRecorderTest, WhichOfTwoIsNotGuessed) {
  add_kernel(600'000, 10'000, 42);
  add_kernel(599'000, 20'000, 43);
  ASSERT_TRUE(recorder_.take(capture(pipeline(600'000).capture())));
  write();
  EXPECT_EQ(launch().correlation, 0);
  EXPECT_EQ(launch().join, "");
  ASSERT_FALSE(launch().problems.empty());
  EXPECT_NE(launch().problems[0].find("several kernels"), std::string::npos);
  EXPECT_EQ(launch().error_ns, kErrorNs) << "its place is known all the same";
}

TEST_F(WarpRecorderTest, AProgramThatKnowsTheLaunchSaysSo) {
  add_kernel(600'000, 10'000, 42);
  add_kernel(599'000, 20'000, 43);
  WarpscopeCapture taken = capture(pipeline(600'000).capture());
  taken.correlation = 43;
  ASSERT_TRUE(recorder_.take(std::move(taken)));
  write();
  EXPECT_EQ(launch().correlation, 43);
  EXPECT_EQ(launch().join, "correlation");
}

TEST_F(WarpRecorderTest, SpansOutsideOfAKernelAreNotItsOwn) {
  add_kernel(600'000 + 1'000 + kErrorNs + 1, 10'000, 42);
  ASSERT_TRUE(recorder_.take(capture(pipeline(600'000).capture())));
  write();
  EXPECT_EQ(launch().correlation, 0);
}

// Its kernel is known by thread and time of the call, and says where it can lie.
TEST_F(WarpRecorderTest, WithoutAClockItsKernelPlacesIt) {
  add_kernel(600'000, 10'000, 42);
  WarpscopeCapture taken = capture(pipeline(600'000).capture());
  taken.device = 1;  // which nobody measured
  taken.clock_failure = "no CUDA context is current on this thread";
  format::Batch rows(Kind::Kernel);
  ASSERT_TRUE(recorder_.take(taken));
  taken.device = -1;
  ASSERT_TRUE(recorder_.take(std::move(taken)));
  write();
  ASSERT_EQ(launches(), 2u);
  EXPECT_EQ(launch(0).correlation, 0) << "device 1 ran no kernel";
  EXPECT_FALSE(launch(0).error_ns);
  EXPECT_EQ(launch(1).correlation, 42);
  EXPECT_EQ(launch(1).time_ns, 601'000);
  EXPECT_EQ(launch(1).error_ns, 1'000 + 1'024);
  ASSERT_FALSE(launch(1).problems.empty());
  EXPECT_NE(launch(1).problems[0].find("no CUDA context"), std::string::npos);
}

TEST_F(WarpRecorderTest, WaitsForItsKernelAndForTheClock) {
  WarpscopeCapture taken = capture(pipeline(600'000).capture());
  taken.taken_ns = kStartNs + kNowNs;
  ASSERT_TRUE(recorder_.take(std::move(taken)));
  write();
  EXPECT_EQ(launches(), 0u);
  add_kernel(600'000, 10'000, 42);
  clock_.awaits = true;
  write();
  EXPECT_EQ(launches(), 0u);
  clock_.awaits = false;
  write();
  ASSERT_EQ(launches(), 1u);
  EXPECT_EQ(launch().correlation, 42);
}

TEST_F(WarpRecorderTest, AnotherKernelOfItsTimeIsNotTakenForItsOwn) {
  for (const char* failure : {"", "no CUDA context is current on this thread"}) {
    WarpscopeCapture taken = capture(pipeline(600'000).capture());
    taken.taken_ns = kStartNs + kNowNs;
    taken.clock_failure = failure;
    ASSERT_TRUE(recorder_.take(std::move(taken)));
  }
  add_kernel(400'000, 10'000, 41);
  write();
  write();
  EXPECT_EQ(launches(), 0u);
  add_kernel(600'000, 10'000, 42);
  write();
  ASSERT_EQ(launches(), 1u) << "without a measured clock nothing says that all were told of";
  EXPECT_EQ(launch().launch, 1);
  EXPECT_EQ(launch().correlation, 42);
}

// One on another stream may run all the while, and be told of first.
TEST_F(WarpRecorderTest, WaitsForALaunchThatCameAfterIt) {
  WarpscopeCapture taken = capture(pipeline(600'000).capture());
  taken.taken_ns = kStartNs + kNowNs;
  taken.is_followed = false;
  ASSERT_TRUE(recorder_.take(taken));
  add_kernel(500'000, 900'000, 43, 6);
  write();
  EXPECT_EQ(launches(), 0u);
  add_kernel(600'000, 10'000, 42);
  ++taken.taken_ns;
  taken.is_followed = true;
  clock_.awaits = true;
  ASSERT_TRUE(recorder_.take(std::move(taken)));
  write();
  EXPECT_EQ(launches(), 0u);
  clock_.awaits = false;
  write();
  ASSERT_EQ(launches(), 2u);
  for (const size_t number : {0, 1}) EXPECT_EQ(launch(number).correlation, 42);
}

TEST_F(WarpRecorderTest, NothingWaitsWithoutATracerOrAtTheEnd) {
  for (const bool has_tracer : {false, true}) {
    WarpscopeCapture taken = capture(pipeline(600'000).capture());
    taken.taken_ns = kStartNs + kNowNs;
    ASSERT_TRUE(recorder_.take(std::move(taken)));
    write(has_tracer, has_tracer);
  }
  ASSERT_EQ(launches(), 2u);
  EXPECT_EQ(launch(1).launch, 2);
  EXPECT_EQ(launch(1).error_ns, kErrorNs);
}

TEST_F(WarpRecorderTest, WhatWaitsIsBounded) {
  WarpRecorder of_words(&clock_, kStartNs);
  const size_t half = WarpRecorder::kMaxWaitingWords / 2;
  EXPECT_TRUE(of_words.take(capture(std::vector<uint64_t>(half))));
  EXPECT_FALSE(of_words.take(capture(std::vector<uint64_t>(half + 1))));
  EXPECT_TRUE(of_words.take(capture({0})));
  WarpscopeCapture taken = capture({0});
  taken.taken_ns = kStartNs + kNowNs;
  for (size_t i = 0; i < WarpRecorder::kMaxWaiting; ++i) ASSERT_TRUE(recorder_.take(taken)) << i;
  EXPECT_FALSE(recorder_.take(taken));
  write(false);
  EXPECT_TRUE(recorder_.take(taken));
}

// Whatever a buffer holds, the log has a line that says what is wrong with it.
TEST_F(WarpRecorderTest, GarbageIsToldNotTrusted) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 60; ++i) {
    std::vector<uint64_t> words =
        i % 2 == 0 ? std::vector<uint64_t>(random() % 500) : pipeline(600'000).capture();
    const size_t damaged = i % 2 == 0 ? words.size() : 1 + random() % 20;
    for (size_t k = 0; k < damaged && !words.empty(); ++k) {
      words[i % 2 == 0 ? k : random() % words.size()] = random();
    }
    ASSERT_TRUE(recorder_.take(capture(std::move(words))));
    write();
  }
  EXPECT_EQ(launches(), 60u);
  for (const auto& row : rows()) {
    ASSERT_GE(row[span::kStart], 0);
    ASSERT_GE(row[span::kDuration], 0);
  }
}

TEST_F(WarpRecorderTest, CountsThatCannotBeAddNoNegativeOnes) {
  const WarpWords whole = pipeline(600'000);
  std::vector<uint64_t> words = whole.capture();
  constexpr size_t kHeaderWords = 16, kLaneWords = 8;
  for (const size_t lane : {0, 1}) {
    uint64_t* const side = &words[whole.region().size() + kHeaderWords + lane * kLaneWords];
    side[4] = side[5] = (uint64_t{1} << 62) - 1 - lane;
  }
  ASSERT_TRUE(recorder_.take(capture(std::move(words))));
  write();
  EXPECT_EQ(launch().offered, 2 * int64_t{UINT32_MAX});
  EXPECT_EQ(launch().dropped, 2 * int64_t{UINT32_MAX});
}

TEST_F(WarpRecorderTest, TheLedgerTellsWhatCapturesLost) {
  format::Ledger before, after;
  recorder_.account(before);
  EXPECT_FALSE(before.warp_records_dropped.has_value());
  const WarpWords whole = pipeline(600'000);
  for (const uint64_t dropped : {0, 1, 2}) {
    std::vector<uint64_t> words = whole.capture();
    words[whole.region().size() + 16 + 5] = dropped;  // of the first lane's entry
    ASSERT_TRUE(recorder_.take(capture(std::move(words))));
  }
  write();
  recorder_.account(after);
  EXPECT_EQ(after.warp_records_dropped, 3u);
  EXPECT_FALSE(after.is_complete());
  // Lanes that are full and have no place to count in.
  WarpWords full(1, 1, 2);
  full.span(0, 0, 1, stamp(600'000), stamp(600'064));
  ASSERT_TRUE(recorder_.take(capture(full.region())));
  write();
  format::Ledger uncounted;
  recorder_.account(uncounted);
  EXPECT_TRUE(uncounted.uncounted.contains("full_warp_lanes"));
  uncounted.warp_records_dropped.reset();
  EXPECT_EQ(uncounted.completeness(), format::Completeness::NotProven);
  EXPECT_EQ(uncounted.completeness_of_trace(), format::Completeness::Complete);
}

TEST_F(WarpRecorderTest, AnEmptyCaptureIsALineWithoutRows) {
  ASSERT_TRUE(recorder_.take(capture({0})));
  write();
  ASSERT_EQ(launches(), 1u);
  EXPECT_EQ(launch().records, 0);
  EXPECT_FALSE(launch().problems.empty());
  EXPECT_TRUE(rows().empty());
}

TEST_F(WarpRecorderTest, LongCapturesComeInBatches) {
  WarpWords words(4, 1, 20'001);
  for (uint32_t block = 0; block < 4; ++block) {
    for (int64_t i = 0; i < 10'000; ++i) {
      words.span(block, 0, 1, stamp(1'000'000 + i * 100), stamp(1'000'000 + i * 100 + 64));
    }
    words.add(block, 0, WarpRecord::Finalize, 0, stamp(2'000'000));
  }
  add_kernel(999'000, 1'002'000, 9);
  ASSERT_TRUE(recorder_.take(capture(words.capture())));
  write();
  ASSERT_EQ(rows().size(), 40'000u);
  EXPECT_LE(sink_.largest_batch, 8'192u);
  EXPECT_EQ(rows().back()[span::kBlock], 3);
  EXPECT_EQ(rows().back()[span::kStart], 1'999'900);
  EXPECT_EQ(launch().correlation, 9);
}

}  // namespace
}  // namespace gpufl::capture
