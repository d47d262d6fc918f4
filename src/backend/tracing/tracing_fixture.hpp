// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "backend/recording_sink.hpp"
#include "backend/tracing/call_account.hpp"
#include "backend/tracing/row_joiner.hpp"

// An account and a joiner with no vendor behind them: notes and rows in, rows and counts out. Times
// are session time.
namespace gpufl::backend {

enum TestFunction : uint16_t { kLaunch = 1, kWait, kAllocate, kSetUp };

// Functions of one API, as of a vendor that has no other.
class TestFunctions final : public FunctionSource {
 public:
  CallFunction describe(bool is_driver, uint32_t function) const override {
    EXPECT_TRUE(is_driver);
    switch (function) {
      case kLaunch: return {"launch", ApiRole::Activity, 0};
      case kWait: return {"wait", ApiRole::Activity, 7};
      case kAllocate: return {"allocate", ApiRole::Memory, 0};
      default: return {"function " + std::to_string(function), ApiRole::Other, 0};
    }
  }
  std::string error_name(bool, uint32_t result) const override {
    return "error " + std::to_string(result);
  }
  std::string kernel_of(uint32_t correlation) const override {
    return correlation == kNamed && !has_forgotten ? "spin" : "";
  }
  static constexpr uint32_t kNamed = 77;
  bool has_forgotten = false;
};

class TracingFixture : public testing::Test {
 protected:
  static constexpr uint32_t kThread = 4711, kContext = 1, kStream = 3;
  static constexpr int64_t kSecondNs = 1'000'000'000, kOriginNs = 5 * kSecondNs;
  static constexpr int64_t kDevice = 2;

  explicit TracingFixture(const TraceOptions& options = {})
      : account_(options, kOriginNs, false, functions_), joiner_(options, account_) {
    account_.expect_until(3'600 * kSecondNs);
  }

  void note(CallNoteKind kind, uint32_t id, uint16_t function = kLaunch,
            int64_t time_ns = kSecondNs) {
    CallNote note{};
    note.time_ns = kOriginNs + time_ns;
    note.correlation = id;
    note.context = kContext;
    note.function = function;
    note.kind = kind;
    if (note.has_duration()) note.set_duration(100);
    if (kind == CallNoteKind::CallEnd) {
      note.stream = kStream;
      note.event = kNoEventId;
    }
    joiner_.note(note, kThread, sink_);
  }
  void launch(uint32_t id, int64_t time_ns = kSecondNs) {
    note(CallNoteKind::Launch, id, kLaunch, time_ns);
  }
  static ActivityRow work(uint32_t id, int64_t start, int64_t duration = 1000) {
    return {start, duration, kDevice, kContext, kStream, id, 0};
  }
  // Whether a row came of it.
  bool kernel(const ActivityRow& row, const KernelRecordFacts& facts = {}) {
    if (!account_.add_kernel(row, facts, sink_)) return false;
    joiner_.add(KernelRow{row, 9, kUnknown, kUnknown, facts.node, facts.graph,
                          account_.node_stack(facts.node)});
    return true;
  }
  bool kernel(uint32_t id, int64_t start = kSecondNs + 500) { return kernel(work(id, start)); }
  void submit(int64_t now_ns = kSecondNs) { joiner_.submit(true, now_ns, sink_); }
  const CallCounts& finish() {
    joiner_.finish(sink_);
    return account_.counts();
  }
  std::vector<RecordingSink::Row>& rows(format::Kind kind) { return sink_.rows[kind]; }

  TestFunctions functions_;
  CallAccount account_;
  RowJoiner joiner_;
  RecordingSink sink_;
};

}  // namespace gpufl::backend
