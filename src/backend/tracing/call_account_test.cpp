// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/call_account.hpp"

#include <gtest/gtest.h>

#include "backend/tracing/tracing_fixture.hpp"

namespace gpufl::backend {
namespace {

namespace api = format::api_column;
using Kind = format::Kind;

using CallAccountTest = TracingFixture;

TEST_F(CallAccountTest, EveryLaunchThatWasNotedHasItsKernel) {
  for (uint32_t id = 1; id <= 3; ++id) launch(id);
  for (uint32_t id = 3; id >= 1; --id) EXPECT_TRUE(kernel(id, kSecondNs + id * 5'000));
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.launches, 3u);
  EXPECT_EQ(counts.kernels, 3u);
  EXPECT_EQ(counts.missing, 0u);
  EXPECT_EQ(counts.unclaimed, 0u);
}

TEST_F(CallAccountTest, WhatIsMissingIsMissingFromItsDevice) {
  launch(1);
  launch(2);
  kernel(2);
  EXPECT_EQ(account_.pending(8).count, 1u);
  EXPECT_EQ(finish().missing, 1u);
  format::Ledger ledger;
  account_.fill_ledger(true, ledger);
  EXPECT_EQ(ledger.launches_missing, 1u);
  EXPECT_EQ(ledger.by_device.at(kDevice).launches, 2u);
  EXPECT_EQ(ledger.by_device.at(kDevice).launches_missing, 1u);
  EXPECT_EQ(ledger.by_device.at(kDevice).kernel_records, 1u);
}

TEST_F(CallAccountTest, WithoutNotesTheLedgerSaysNothingOfLaunches) {
  kernel(1);
  finish();
  format::Ledger ledger;
  account_.fill_ledger(false, ledger);
  EXPECT_EQ(ledger.kernel_records, 1u);
  EXPECT_EQ(ledger.launches_seen, std::nullopt);
  EXPECT_EQ(ledger.by_device.at(kDevice).launches, std::nullopt);
}

TEST_F(CallAccountTest, AKernelThatNobodyLaunchedIsUnclaimed) {
  kernel(1);
  EXPECT_EQ(finish().unclaimed, 1u);
}

TEST_F(CallAccountTest, TimesThatCannotBeAreCountedAndHaveNoRow) {
  account_.expect_until(2 * kSecondNs);
  EXPECT_FALSE(kernel(work(1, kUnknown)));
  EXPECT_FALSE(kernel(work(2, kSecondNs, -5)));
  EXPECT_FALSE(kernel(work(3, 2 * kSecondNs, 1)));
  EXPECT_FALSE(kernel(work(4, kSecondNs, 0)));
  EXPECT_TRUE(kernel(work(5, kSecondNs)));
  EXPECT_FALSE(kernel(work(6, kSecondNs))) << "the times of the one before it";
  EXPECT_FALSE(account_.add_transfer(work(7, 3 * kSecondNs), 0, 0, sink_));
  EXPECT_EQ(finish().impossible_times, 6u);
}

TEST_F(CallAccountTest, AfterAForcedEndAKernelWithoutAnEndStillRuns) {
  EXPECT_FALSE(kernel(work(1, kSecondNs, kUnknown)));
  account_.expect_unfinished();
  EXPECT_FALSE(kernel(work(2, kSecondNs, kUnknown)));
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.impossible_times, 1u);
  EXPECT_EQ(counts.unfinished, 1u);
}

TEST_F(CallAccountTest, WhatIsLeftBehindCameAfterTheLastThatWasRecorded) {
  account_.expect_until(10 * kSecondNs);
  for (uint32_t id = 1; id <= 3; ++id) launch(id);
  EXPECT_TRUE(kernel(work(2, 5 * kSecondNs)));
  account_.leave_unfinished();
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.missing, 1u);
  EXPECT_EQ(counts.unfinished, 1u);
}

TEST_F(CallAccountTest, AGraphOwesItsKernelsFromWhenItWasInstantiated) {
  GraphInstance instance;
  instance.exec = 6;
  instance.time_ns = kOriginNs;
  instance.kernels = 2;
  account_.note(instance, sink_);
  for (uint32_t id = 1; id <= 2; ++id) {
    CallNote note{};
    note.time_ns = kOriginNs + kSecondNs;
    note.correlation = id;
    note.context = kContext;
    note.function = kLaunch;
    note.kind = CallNoteKind::GraphLaunch;
    note.graph = 6;
    joiner_.note(note, kThread, sink_);
  }
  EXPECT_TRUE(kernel(work(1, kSecondNs + 1'000), {.node = 11, .graph = 5}));
  EXPECT_TRUE(kernel(work(1, kSecondNs + 3'000), {.node = 12, .graph = 5}));
  EXPECT_TRUE(kernel(work(2, kSecondNs + 9'000), {.node = 11, .graph = 5}));
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.graph_launches, 2u);
  EXPECT_EQ(counts.graph_kernels, 3u);
  EXPECT_EQ(counts.graph_kernels_missing, 1u);
}

TEST_F(CallAccountTest, ACallThatFailedHasARowWithItsError) {
  CallNote note{};
  note.time_ns = kOriginNs + kSecondNs;
  note.correlation = 1;
  note.function = kLaunch;
  note.kind = CallNoteKind::Call;
  note.set_duration(40);
  note.result = 2;
  joiner_.note(note, kThread, sink_);
  submit();
  ASSERT_EQ(rows(Kind::Api).size(), 1u);
  const RecordingSink::Row& row = rows(Kind::Api)[0];
  EXPECT_EQ(row[api::kStart], kSecondNs);
  EXPECT_EQ(row[api::kDuration], 40);
  EXPECT_EQ(sink_.value(format::Dict::Name, row[api::kName]), "launch");
  EXPECT_EQ(sink_.value(format::Dict::Name, row[api::kError]), "error 2");
}

TEST_F(CallAccountTest, WhatHangsIsWrittenWhileItHangs) {
  note(CallNoteKind::CallBegin, 1, kWait);
  submit(kSecondNs + 100'000'000);
  EXPECT_TRUE(rows(Kind::Pending).empty());
  submit(kSecondNs + 300'000'000);
  ASSERT_EQ(rows(Kind::Pending).size(), 1u);
  const PendingList list = account_.pending(8);
  ASSERT_EQ(list.oldest.size(), 1u);
  EXPECT_EQ(list.oldest[0].function, "wait");
  EXPECT_EQ(list.oldest[0].thread, kThread);
  note(CallNoteKind::CallEnd, 1, kWait, 2 * kSecondNs);
  EXPECT_EQ(account_.pending(8).count, 0u);
}

TEST_F(CallAccountTest, AKernelThatRunsOnIsNamed) {
  launch(TestFunctions::kNamed);
  submit(kSecondNs + 100'000'000);
  EXPECT_EQ(account_.pending(8).oldest.at(0).kernel, "") << "not looked for yet";
  submit(kSecondNs + 300'000'000);
  EXPECT_EQ(account_.pending(8).oldest.at(0).kernel, "spin");
  functions_.has_forgotten = true;  // the thread has launched many others since
  EXPECT_EQ(account_.pending(8).oldest.at(0).kernel, "spin");
  account_.expect_unfinished();
  EXPECT_FALSE(kernel(work(TestFunctions::kNamed, kSecondNs, kUnknown)));
  submit(2 * kSecondNs);
  ASSERT_EQ(rows(Kind::Pending).size(), 2u) << "while it ran, and at the end";
  for (const RecordingSink::Row& row : rows(Kind::Pending)) {
    const int64_t kernel = row[format::pending_column::kKernel];
    EXPECT_EQ(sink_.value(format::Dict::Name, kernel), "spin");
  }
}

TEST_F(CallAccountTest, TheRecordersOwnKernelIsInNoCount) {
  note(CallNoteKind::OwnCall, 1);
  EXPECT_EQ(account_.add_own_kernel(1, sink_), kSecondNs);
  EXPECT_EQ(account_.add_own_kernel(2, sink_), std::nullopt) << "its call was not noted";
  EXPECT_TRUE(account_.is_own_call(1));
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.kernels + counts.launches + counts.unclaimed, 0u);
  EXPECT_TRUE(rows(Kind::Api).empty());
}

// A vendor may count its calls with 64 bits; the lower 32 are the id here, and wrap.
TEST_F(CallAccountTest, IdsWrap) {
  constexpr uint64_t kFirst = (uint64_t{7} << 32) - 100'000;
  for (uint64_t i = 0; i < 200'000; ++i) {
    const auto id = static_cast<uint32_t>(kFirst + i);
    if (id == 0) continue;
    const auto time_ns = kSecondNs + static_cast<int64_t>(i) * 2'000;
    launch(id, time_ns);
    ASSERT_TRUE(kernel(id, time_ns + 500)) << i;
  }
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.launches, 199'999u);
  EXPECT_EQ(counts.missing + counts.unclaimed + counts.impossible_times, 0u);
}

class CallRecordsTest : public TracingFixture {
 protected:
  CallRecordsTest() : TracingFixture({.call_records = true}) {}
  void call(uint32_t id, uint16_t function, int64_t start, int64_t duration, uint32_t result = 0) {
    account_.add_call({id, start, duration, kThread, result, function, true}, sink_);
  }
};

TEST_F(CallRecordsTest, TheOuterOfTwoCallsWithOneIdCounts) {
  call(1, kLaunch, kSecondNs + 20, 50);
  call(1, kLaunch, kSecondNs, 100);
  call(1, kLaunch, kSecondNs + 30, 10);
  EXPECT_EQ(account_.find(1)->start, kSecondNs);
  EXPECT_EQ(account_.find(1)->duration, 100);
}

TEST_F(CallRecordsTest, OnlyWhatMattersHasARow) {
  call(1, kSetUp, kSecondNs, 10);
  call(2, kAllocate, kSecondNs, 10);
  call(3, kSetUp, kSecondNs, 10, 5);
  submit();
  EXPECT_EQ(sink_.column(Kind::Api, api::kCorrelation), (std::vector<int64_t>{2, 3}));
}

}  // namespace
}  // namespace gpufl::backend
