// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "analysis/insights/test_program.hpp"

namespace gpufl::analysis::testing {
namespace {

TEST(FailedCalls, ByCallErrorAndLine) {
  TestProgram program;
  const uint32_t line = program.line("/home/me/a.cpp", 9, "step");
  for (int i = 0; i < 3; ++i) {
    program.api_call("cudaMalloc", i * kMs, kUs, 2, "cudaErrorMemoryAllocation", {.stack = line});
  }
  program.api_call("cudaStreamSynchronize", 9 * kMs, kUs, 700, "cudaErrorIllegalAddress");
  const auto found = of_rule(program.insights(), "failed_calls");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].title, "cudaStreamSynchronize failed: cudaErrorIllegalAddress");
  EXPECT_EQ(found[0].severity, Severity::High);
  EXPECT_EQ(found[1].title, "cudaMalloc failed × 3: cudaErrorMemoryAllocation @ a.cpp:9");
  EXPECT_EQ(found[1].severity, Severity::Medium);
}

TEST(FailedCalls, AreFinalByTheirNumberWhereNobodyToldTheName) {
  TestProgram program;
  program.api_call("cudaStreamSynchronize", 0, kUs, 700, "");
  program.api_call("cudaMalloc", kMs, kUs, 2, "");
  const auto found = of_rule(program.insights(), "failed_calls");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].title, "cudaStreamSynchronize failed: error 700");
  EXPECT_EQ(found[0].severity, Severity::High);
  EXPECT_EQ(found[1].severity, Severity::Medium);
}

TEST(FailedCalls, NotForCallsThatSucceedOrAnswerNotReady) {
  TestProgram program;
  program.api_call("cudaMalloc", 0, kUs);
  program.api_call("cudaEventQuery", kMs, kUs, 600, "cudaErrorNotReady");
  EXPECT_TRUE(of_rule(program.insights(), "failed_calls").empty());
}

std::vector<Insight> losses_of(uint64_t missing, uint64_t warp_records) {
  TestProgram program;
  format::Ledger& ledger = program.data.summary.ledger.emplace();
  ledger.launches_seen = 1'000;
  ledger.kernel_records = 1'000 - missing;
  ledger.launches_missing = missing;
  ledger.warp_records_dropped = warp_records;
  return of_rule(program.insights(), "trace_losses");
}

TEST(TraceLosses, WhatTheLedgerCounts) {
  const auto with = [](uint64_t missing) { return losses_of(missing, 0); };
  ASSERT_EQ(with(11).size(), 1u);
  EXPECT_EQ(with(11)[0].title, "The trace is not complete: 11 missing kernel records");
  EXPECT_EQ(with(11)[0].severity, Severity::High);
  EXPECT_EQ(with(10)[0].severity, Severity::Medium);
  EXPECT_TRUE(with(0).empty());
}

TEST(TraceLosses, WarpRecordsNeedNoDisk) {
  const auto with = [](uint64_t missing) { return losses_of(missing, 7); };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  ASSERT_EQ(with(0).size(), 1u);
  const Insight alone = with(0)[0];
  EXPECT_EQ(alone.title, "The trace is not complete: 7 dropped warp records");
  EXPECT_TRUE(has(alone.detail, "everything else is complete")) << alone.detail;
  EXPECT_TRUE(has(alone.advice, "max_records")) << alone.advice;
  EXPECT_FALSE(has(alone.advice, "disk")) << alone.advice;
  const Insight both = with(5)[0];
  EXPECT_TRUE(has(both.advice, "max_records") && has(both.advice, "disk")) << both.advice;
  EXPECT_FALSE(has(both.detail, "everything else is complete")) << both.detail;
}

TEST(TraceLosses, AFullRingIsNoMatterOfDisk) {
  const auto with = [](uint64_t rows_dropped) {
    TestProgram program;
    format::Ledger& ledger = program.data.summary.ledger.emplace();
    ledger.scopes_dropped = 12;
    ledger.writer.dropped["spool_full"] = rows_dropped;
    return of_rule(program.insights(), "trace_losses");
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  ASSERT_EQ(with(0).size(), 1u);
  const Insight alone = with(0)[0];
  EXPECT_EQ(alone.title, "The trace is not complete: 12 dropped scope events");
  EXPECT_TRUE(has(alone.detail, "GPU work is whole")) << alone.detail;
  EXPECT_TRUE(has(alone.advice, "mark fewer, longer parts")) << alone.advice;
  EXPECT_FALSE(has(alone.advice, "log_spool_mb")) << alone.advice;
  const Insight both = with(3)[0];
  EXPECT_TRUE(has(both.advice, "mark fewer") && has(both.advice, "log_spool_mb")) << both.advice;
  EXPECT_FALSE(has(both.detail, "GPU work is whole")) << both.detail;
}

TEST(TraceLosses, ADamagedLogHasAdviceOfItsOwn) {
  TestProgram program;
  format::Ledger ledger;
  ledger.writer.rows = {{"kernel", 1'000}, {"scope", 10}};
  program.data.summary.ledger = ledger;
  program.data.summary.rows = {{"scope", 10}};
  program.data.summary.has_faults = true;
  const auto found = of_rule(program.insights(), "trace_losses");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "The trace is not complete: 1,000 of 1,010 written rows cannot be read");
  EXPECT_EQ(found[0].severity, Severity::High);
  EXPECT_NE(found[0].advice.find("gpufl verify"), std::string::npos);
  EXPECT_EQ(found[0].advice.find("Record less"), std::string::npos) << found[0].advice;
}

TEST(TraceLosses, ASessionThatWasCutOff) {
  TestProgram killed;
  killed.data.summary.header.engine = "Trace";
  const auto found = of_rule(killed.insights(), "trace_losses");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].category, Category::Trace);
  TestProgram live;
  live.data.summary.header.engine = "Trace";
  live.data.summary.live = true;
  EXPECT_TRUE(of_rule(live.insights(), "trace_losses").empty());
}

}  // namespace
}  // namespace gpufl::analysis::testing
