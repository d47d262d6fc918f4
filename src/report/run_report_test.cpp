// SPDX-License-Identifier: Apache-2.0
#include "report/run_report.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "analysis/session/test_tables.hpp"

namespace gpufl::report {
namespace {

using analysis::SessionSummary;
using analysis::testing::TestSession;

SessionSummary process(int64_t pid, int64_t rank, uint64_t kernels) {
  SessionSummary session;
  session.header.run_id = "run-1";
  session.header.process = "train";
  session.header.pid = pid;
  session.header.rank = rank;
  session.duration_ns = 2'000'000'000;
  session.activity.kernels = kernels;
  session.activity.kernel_ns = static_cast<int64_t>(kernels) * 1000;
  session.activity.copies = 1;
  session.activity.copy_bytes = 1 << 20;
  session.ended = true;
  session.ledger.emplace();
  return session;
}

TEST(RunReport, SumsUpAllProcesses) {
  std::vector<SessionSummary> sessions = {process(101, 0, 1000), process(102, 1, 500)};
  sessions[1].ledger.reset();
  const std::string text = run_report(sessions, {.width = 100});
  EXPECT_NE(text.find("RUN: run-1"), std::string::npos) << text;
  EXPECT_NE(text.find("1,500 (1.500 ms of kernel time)"), std::string::npos) << text;
  EXPECT_NE(text.find("2 (2.000 MiB"), std::string::npos) << text;
  EXPECT_NE(text.find("complete 1, cut off 1"), std::string::npos) << text;
  EXPECT_NE(text.find("101"), std::string::npos) << text;
  EXPECT_NE(text.find("102"), std::string::npos) << text;
}

TEST(RunReport, OptionsThatCouldNotBeUsedAreToldOnce) {
  std::vector<SessionSummary> sessions = {process(101, 0, 7), process(102, 1, 5)};
  base::Json event = base::Json::object();
  event.set("time", 0).set("name", "option_warning").set("text", "environment: bad_value: X: no");
  for (SessionSummary& session : sessions) session.events.push_back(event);
  const std::string text = run_report(sessions);
  const std::string line =
      "RUN: run-1\n  ! option not used as given: environment: bad_value: X: no\n";
  EXPECT_NE(text.find(line), std::string::npos) << text;
  EXPECT_EQ(text.find("bad_value"), text.rfind("bad_value")) << text;
}

TEST(RunReport, OneProcessNeedsNoTable) {
  const std::vector<SessionSummary> sessions = {process(101, 0, 7)};
  const std::string text = run_report(sessions);
  EXPECT_EQ(text.find("PROCESSES"), std::string::npos) << text;
  EXPECT_NE(text.find("ledger"), std::string::npos) << text;
}

TEST(RunReport, SaysThatNoSessionWasLeft) {
  std::vector<SessionSummary> sessions = {process(101, 0, 0)};
  sessions[0].event_counts["no_session_left"] = 1;
  EXPECT_NE(run_report(sessions).find("no session left"), std::string::npos);
}

// A session of the engine that records no GPU work, because the other could not be had.
SessionSummary untraced(int64_t pid) {
  SessionSummary session = process(pid, 0, 0);
  session.activity = {};
  session.header.engine = "Monitor";
  session.capabilities.push_back({"profiling_engine", "Trace", "Monitor", "no_gpu", "d", "h"});
  return session;
}

TEST(RunReport, WhatNobodyRecordedIsNoZero) {
  const std::vector<SessionSummary> sessions = {untraced(101)};
  const std::string text = run_report(sessions);
  EXPECT_NE(text.find("GPU work not recorded"), std::string::npos) << text;
  EXPECT_NE(text.find("  asked for Trace, got Monitor (no_gpu)"), std::string::npos) << text;
  EXPECT_EQ(text.find("\n  kernels "), std::string::npos) << text;
  EXPECT_EQ(text.find("\n  waits "), std::string::npos) << text;
}

TEST(RunReport, SaysOfWhichProcessesNothingIsKnown) {
  const std::vector<SessionSummary> sessions = {process(101, 0, 7), untraced(102)};
  const std::string text = run_report(sessions, {.width = 100});
  EXPECT_NE(text.find("in 1 of 2 processes: asked for Trace"), std::string::npos) << text;
  EXPECT_NE(text.find("7 (7.000 us of kernel time)"), std::string::npos) << text;
  EXPECT_NE(text.find("unknown"), std::string::npos) << text;
}

// A session of the engine Trace without a row of GPU work.
SessionSummary without_rows() {
  SessionSummary session = process(101, 0, 0);
  session.activity = {};
  session.header.engine = "Trace";
  session.ledger->kernel_records = 0;
  return session;
}

TEST(RunReport, NoneIsAZeroWhereTheEngineWouldHaveSeenIt) {
  const std::string text = run_report(std::vector{without_rows()});
  EXPECT_NE(text.find("0 (0 ns of kernel time)"), std::string::npos) << text;
  EXPECT_EQ(text.find("not recorded"), std::string::npos) << text;
}

TEST(RunReport, WhatMayHaveBeenLostIsNoZero) {
  SessionSummary dropped = without_rows(), unclosed = without_rows();
  dropped.ledger->writer.dropped["disk_floor"] = 17'100;
  unclosed.ledger.reset();
  for (const auto& [session, why] :
       {std::pair(dropped, "disk_floor 17,100"), std::pair(unclosed, "left by _exit")}) {
    const std::string text = run_report(std::vector{session}, {.width = 200});
    EXPECT_NE(text.find("GPU work not recorded"), std::string::npos) << text;
    EXPECT_NE(text.find(why), std::string::npos) << text;
    EXPECT_EQ(text.find("\n  kernels "), std::string::npos) << text;
    EXPECT_EQ(text.find("0 ns"), std::string::npos) << text;
  }
}

TEST(RunReport, WhatIsLeftOfLostRowsIsALowerBound) {
  SessionSummary dropped = process(101, 0, 7);
  dropped.header.engine = "Trace";
  dropped.ledger->writer.dropped["spool_full"] = 3;
  const std::string text = run_report(std::vector{dropped, process(102, 1, 5)}, {.width = 200});
  EXPECT_NE(text.find("GPU work may be more"), std::string::npos) << text;
  EXPECT_NE(text.find("in 1 of 2 processes: records were lost: spool_full 3"), std::string::npos);
  EXPECT_NE(text.find("at least 12 (12.00 us of kernel time)"), std::string::npos) << text;
  EXPECT_NE(text.find(">= 7 "), std::string::npos) << text;
  EXPECT_EQ(text.find(">= 5 "), std::string::npos) << text;
  EXPECT_EQ(text.find(">= 2.000 s"), std::string::npos) << text;
  // Nobody saw a wait, and rows of waits may be among those that were lost.
  EXPECT_NE(text.find("waits                     unknown"), std::string::npos) << text;
}

TEST(RunReport, WhatIsStillRecordedIsALowerBound) {
  SessionSummary session = process(101, 0, 7);
  session.ledger.reset();
  session.live = true;
  const std::string text = run_report(std::vector{session});
  EXPECT_NE(text.find("still being recorded"), std::string::npos) << text;
  EXPECT_NE(text.find("at least 7 (7.000 us of kernel time)"), std::string::npos) << text;
}

// It may have gone on after the last time in its log, as one does that calls exec.
TEST(RunReport, TheTimeOfAProcessWithoutAnEndIsALowerBound) {
  SessionSummary unclosed = without_rows();
  unclosed.ledger.reset();
  unclosed.ended = false;
  const std::string text = run_report(std::vector{unclosed, process(102, 1, 5)}, {.width = 200});
  EXPECT_NE(text.find(">= 2.000 s"), std::string::npos) << text;
}

// Scopes and samples are no GPU work.
TEST(RunReport, OtherLossesLeaveTheTotalsAsTheyAre) {
  SessionSummary session = without_rows();
  session.ledger->scopes_dropped = 3;
  session.ledger->samples_missed = 2;
  EXPECT_NE(run_report(std::vector{session}).find("0 (0 ns of kernel time)"), std::string::npos);
}

TEST(RunReport, SaysWhyTracingNeverBegan) {
  SessionSummary session = untraced(101);
  session.header.engine = "Trace";
  session.capabilities.clear();
  session.events.push_back(
      base::Json::object().set("name", "trace_unavailable").set("text", "another tool has CUPTI"));
  EXPECT_NE(run_report(std::vector{session}).find("another tool has CUPTI"), std::string::npos);
}

TEST(RunReport, SaysOnceWhatWasNotPossible) {
  std::vector<SessionSummary> sessions(2, process(1, 0, 1));
  for (SessionSummary& session : sessions) {
    session.capabilities.push_back({"profiling_engine", "Trace", "Monitor", "no_gpu", "d", "h"});
  }
  const std::string text = run_report(sessions);
  const size_t at =
      text.find("! profiling engine: asked for Trace, got Monitor\n    d\n    -> h\n");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.find("! profiling_engine", at + 1), std::string::npos) << text;
}

TEST(RunReport, ListsNoMoreThanAsked) {
  std::vector<SessionSummary> sessions(5, process(1, 0, 1));
  const std::string text = run_report(sessions, {.top = 2});
  EXPECT_NE(text.find("... 3 more"), std::string::npos) << text;
}

TEST(RunReport, BalanceHasARankWithoutGpuWorkToo) {
  TestSession traced, monitored;
  traced.kernel("gemm", 0, 1000);
  traced.data.summary.header.rank = 0;
  monitored.data.summary.header.rank = 1;
  monitored.data.summary.header.engine = "Monitor";
  analysis::RunData run;
  run.sessions.push_back(traced.finish());
  run.sessions.push_back(monitored.finish());
  run.offset_ns = {0, 0};
  const std::string text = run_report({run, analysis::analyze_run(run), {}}, {.top = 0});
  const size_t balance = text.find("BALANCE");
  ASSERT_NE(balance, std::string::npos) << text;
  const std::string table = text.substr(balance, text.find("\n\n", balance) - balance);
  EXPECT_NE(table.find("unknown"), std::string::npos) << text;
  EXPECT_EQ(table.find(" more"), std::string::npos) << text;
}

}  // namespace
}  // namespace gpufl::report
