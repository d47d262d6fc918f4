// SPDX-License-Identifier: Apache-2.0
// Other tools of the process that want CUPTI, its callbacks or its records: over the stand-in
// libcupti.

#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "tests/trace/tracer_fixture.hpp"

namespace gpufl::backend {
namespace {

using format::Kind;
using standin::Launch;

class OtherTools : public TracerFixture {
 protected:
  // Which has taken the records: it has lost no kind that it would have asked for, nor CUPTI.
  void expect_left_to_the_other_tool() {
    const uint32_t kinds = standin_->enabled_kinds();
    const format::Ledger ledger = finish();
    EXPECT_FALSE(ledger.is_complete());
    ASSERT_EQ(events("callbacks_taken_over").size(), 1u);
    EXPECT_NE(events("callbacks_taken_over")[0]["hint"].as_string(), "");
    ASSERT_EQ(sink_.lines[Kind::Capability].size(), 1u);
    EXPECT_EQ(sink_.lines[Kind::Capability][0]["reason"].as_string(), "callbacks_taken_over");
    EXPECT_EQ(standin_->finalized(), 0u);
    EXPECT_GE(standin_->enabled_kinds() + 2, kinds);
    EXPECT_FALSE(standin_->is_subscribed());
    EXPECT_GT(callbacks_->others_buffers(), 0u);
    callbacks_->register_other(false);
  }
};

TEST_F(OtherTools, RecordsTakenByAnotherToolAreNoticedAndLeftToIt) {
  ASSERT_TRUE(start().available);
  standin_->launch({});
  ASSERT_TRUE(drain_until([&] { return rows(Kind::Kernel).size() == 1; }));
  callbacks_->register_other(true);
  ASSERT_TRUE(drain_until([&] {
    standin_->launch({});
    return tracer_->status().state == "records_overdue";
  }));
  ASSERT_EQ(events("records_overdue").size(), 1u);
  EXPECT_NE(events("records_overdue")[0]["hint"].as_string(), "");
  expect_left_to_the_other_tool();
}

TEST_F(OtherTools, RecordsTakenJustBeforeTheEndAreLeftToTheirTaker) {
  ASSERT_TRUE(start().available);
  standin_->launch({});
  ASSERT_TRUE(drain_until([&] { return rows(Kind::Kernel).size() == 1; }));
  callbacks_->register_other(true);
  standin_->launch({});
  expect_left_to_the_other_tool();
}

TEST_F(OtherTools, LaunchesBehindALongKernelAreNobodyElses) {
  ASSERT_TRUE(start().available);
  standin_->launch({});
  ASSERT_TRUE(drain_until([&] { return rows(Kind::Kernel).size() == 1; }));
  standin_->hold_calls(true);
  uint64_t queued = 0;
  ASSERT_TRUE(drain_until([&] {
    Launch behind;
    behind.runs_on = true;
    standin_->launch(behind);
    ++queued;
    return tracer_->status().state == "records_overdue";
  }));
  // Who waits for records is not kept waiting.
  const uint32_t flushes = callbacks_->flushes();
  pass_time(kFlushNs);
  drain();
  EXPECT_EQ(callbacks_->flushes(), flushes + 1);
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_unfinished, queued);
  EXPECT_EQ(ledger.launches_missing, 0u);
  EXPECT_EQ(events("callbacks_taken_over").size(), 0u);
  EXPECT_EQ(standin_->finalized(), 1u);
  EXPECT_EQ(standin_->enabled_kinds(), 0u);
}

TEST_F(OtherTools, AnIdleProgramIsGivenBackWhole) {
  ASSERT_TRUE(start().available);
  standin_->launch({});
  callbacks_->device_synchronize(nullptr, nullptr);
  ASSERT_TRUE(drain_until([&] { return rows(Kind::Kernel).size() == 1; }));
  pass_time(kFlushNs);
  drain();
  finish();
  EXPECT_EQ(events("callbacks_taken_over").size(), 0u);
  EXPECT_EQ(standin_->finalized(), 1u);
}

TEST_F(OtherTools, RecordsThatComeAgainAreOursAgain) {
  ASSERT_TRUE(start().available);
  callbacks_->register_other(true);
  ASSERT_TRUE(drain_until([&] {
    standin_->launch({});
    return tracer_->status().state == "records_overdue";
  }));
  callbacks_->register_other(false);
  ASSERT_TRUE(drain_until([&] {
    standin_->launch({});
    return tracer_->status().state == "recording";
  }));
  EXPECT_EQ(events("records_returned").size(), 1u);
  finish();
  EXPECT_EQ(standin_->finalized(), 1u);
}

TEST_F(OtherTools, AnotherSubscriberThatHasRecordsKeepsThem) {
  callbacks_->subscribe_other("CUPTI for Kineto");
  callbacks_->register_other(true);
  const Availability why = start();
  EXPECT_FALSE(why.available);
  EXPECT_EQ(why.reason, "another_subscriber");
  EXPECT_NE(why.detail.find("CUPTI for Kineto"), std::string::npos) << why.detail;
  EXPECT_EQ(tracer_->status().state, "another_subscriber");
  EXPECT_EQ(standin_->enabled_kinds(), 0u);
  tracer_.reset();
  EXPECT_EQ(standin_->finalized(), 0u);
  // When it has gone, all is well.
  standin_->reset(kCupti130);
  EXPECT_TRUE(start().available);
  finish();
}

TEST_F(OtherTools, AnotherSubscriberWithoutRecordsCostsNotesOnly) {
  CountingStacks stacks;
  callbacks_->subscribe_other("other");
  ASSERT_TRUE(start({.stacks = &stacks}).available);
  std::set<std::string> features;
  for (const Limitation& one : tracer_->limitations()) features.insert(one.feature);
  EXPECT_EQ(features, (std::set<std::string>{"launch_count", "enable_stack_trace"}));
  standin_->launch({});
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.kernel_records, 1u);
  EXPECT_EQ(ledger.launches_seen, std::nullopt);
  EXPECT_EQ(standin_->finalized(), 0u);
}

}  // namespace
}  // namespace gpufl::backend
