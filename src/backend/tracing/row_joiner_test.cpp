// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/row_joiner.hpp"

#include <gtest/gtest.h>

#include "backend/tracing/tracing_fixture.hpp"

namespace gpufl::backend {
namespace {

namespace column = format::kernel_column;
namespace sync = format::sync_column;
using Kind = format::Kind;

using RowJoinerTest = TracingFixture;

TEST_F(RowJoinerTest, ARowCarriesItsCall) {
  sink_.scopes = [](int64_t thread, int64_t time_ns) {
    return thread == kThread && time_ns == kSecondNs ? ScopeRef{17, false} : ScopeRef{};
  };
  launch(1);
  kernel(1);
  submit();
  ASSERT_EQ(rows(Kind::Kernel).size(), 1u);
  const RecordingSink::Row& row = rows(Kind::Kernel)[0];
  EXPECT_EQ(row[column::kApiStart], kSecondNs);
  EXPECT_EQ(row[column::kApiDuration], 100);
  EXPECT_EQ(row[column::kThread], kThread);
  EXPECT_EQ(row[column::kScope], 17);
  EXPECT_EQ(row[column::kDevice], kDevice);
  EXPECT_EQ(row[column::kStream], kStream);
}

TEST_F(RowJoinerTest, ARowWaitsSomeFlushesForItsCall) {
  kernel(1);
  submit();
  EXPECT_TRUE(rows(Kind::Kernel).empty());
  launch(1);
  submit();
  ASSERT_EQ(rows(Kind::Kernel).size(), 1u);
  EXPECT_EQ(rows(Kind::Kernel)[0][column::kApiStart], kSecondNs);
}

TEST_F(RowJoinerTest, ARowWhoseCallNeverComesGoesWithout) {
  kernel(1);
  for (int i = 0; i < 4; ++i) submit();
  ASSERT_EQ(rows(Kind::Kernel).size(), 1u);
  EXPECT_EQ(rows(Kind::Kernel)[0][column::kApiStart], kUnknown);
}

TEST_F(RowJoinerTest, NothingRunsBeforeItWasAskedFor) {
  launch(1, 2 * kSecondNs);
  kernel(1, kSecondNs);
  submit();
  EXPECT_TRUE(rows(Kind::Kernel).empty());
  EXPECT_EQ(finish().impossible_times, 1u);
}

TEST_F(RowJoinerTest, ManyRowsGoOnBeforeTheRoundEnds) {
  constexpr uint32_t kMany = 20'000;
  for (uint32_t id = 1; id <= kMany; ++id) {
    launch(id, kSecondNs + id * 2'000);
    kernel(id, kSecondNs + id * 2'000 + 500);
    joiner_.relieve(sink_);
  }
  EXPECT_GE(rows(Kind::Kernel).size(), 8'192u);
  submit();
  EXPECT_EQ(rows(Kind::Kernel).size(), kMany);
}

TEST_F(RowJoinerTest, TheEndOfAWaitIsItsRow) {
  note(CallNoteKind::CallBegin, 1, kWait);
  note(CallNoteKind::CallEnd, 1, kWait, kSecondNs + 400);
  note(CallNoteKind::CallBegin, 2, kAllocate);
  note(CallNoteKind::CallEnd, 2, kAllocate, kSecondNs + 400);
  submit();
  ASSERT_EQ(rows(Kind::Sync).size(), 1u);
  const RecordingSink::Row& row = rows(Kind::Sync)[0];
  EXPECT_EQ(row[sync::kStart], kSecondNs);
  EXPECT_EQ(row[sync::kDuration], 400);
  EXPECT_EQ(row[sync::kWaitKind], 7);
  EXPECT_EQ(row[sync::kEventId], kUnknown);
  EXPECT_EQ(rows(Kind::Api).size(), 1u) << "the allocation";
}

TEST_F(RowJoinerTest, CopiesToAnotherGpuSayWhich) {
  const auto copy = [&](uint32_t id, int64_t peer) {
    const ActivityRow row = work(id, kSecondNs + 500);
    ASSERT_TRUE(account_.add_transfer(row, 0, 0, sink_));
    joiner_.add(CopyRow{row, 64, 0, peer, 0, 1, 2, 3, 0});
  };
  copy(1, kUnknown);
  copy(2, 1);
  finish();
  EXPECT_EQ(sink_.column(Kind::Memcpy, format::memcpy_column::kPeerDevice),
            (std::vector<int64_t>{RecordingSink::kAbsent, 1}));
}

class GatedTest : public TracingFixture, public CaptureGate {
 protected:
  GatedTest() : TracingFixture({.gate = this}) {}
  bool is_open(int64_t time_ns) const override { return time_ns >= 2 * kSecondNs; }
  void on_profiler_start(int64_t) noexcept override {}
  void on_profiler_stop(int64_t) noexcept override {}
};

TEST_F(GatedTest, ACallBelongsToThePartInWhichItBegan) {
  launch(1, kSecondNs);
  launch(2, 2 * kSecondNs);
  kernel(1, 2 * kSecondNs + 5'000);
  kernel(2, 2 * kSecondNs + 9'000);
  submit();
  EXPECT_EQ(sink_.column(Kind::Kernel, column::kCorrelation), std::vector<int64_t>{2});
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.launches_outside, 1u);
  EXPECT_EQ(counts.outside, 1u);
}

class GraphRowsTest : public TracingFixture {
 protected:
  GraphRowsTest() : TracingFixture({.graphs = true}) {}
};

TEST_F(GraphRowsTest, NodesMakeTheSpanOfTheirLaunch) {
  note(CallNoteKind::GraphLaunch, 1);
  kernel(work(1, kSecondNs + 1'000), {.node = 11, .graph = 5});
  const ActivityRow fill = work(1, kSecondNs + 3'000, 500);
  ASSERT_TRUE(account_.add_transfer(fill, 12, 5, sink_));
  joiner_.add(FillRow{fill, 64, 12, 0, 1, 0});
  finish();
  ASSERT_EQ(rows(Kind::Graph).size(), 1u);
  const RecordingSink::Row& row = rows(Kind::Graph)[0];
  EXPECT_EQ(row[format::graph_column::kStart], kSecondNs + 1'000);
  EXPECT_EQ(row[format::graph_column::kDuration], 2'500);
  EXPECT_EQ(row[format::graph_column::kNodes], 2);
}

}  // namespace
}  // namespace gpufl::backend
