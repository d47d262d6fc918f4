// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/summary.hpp"

#include <gtest/gtest.h>

namespace gpufl::analysis {
namespace {

using base::Json;
using format::Batch;
using format::Dict;
using format::Kind;

Json object(std::string_view text) {
  auto parsed = Json::parse(text);
  EXPECT_TRUE(parsed.is_ok()) << text;
  return parsed.is_ok() ? *parsed : Json();
}

TEST(SummaryBuilderTest, GathersEveryKindOfLine) {
  SummaryBuilder builder;
  format::Dictionaries dictionaries;
  dictionaries.define(Dict::Name, 1, "step");
  dictionaries.define(Dict::Metric, 1, "power_mw");

  builder.on_object(Kind::Capability, object(R"({"feature":"profiling_engine","asked":"Trace",
      "got":"Monitor","reason":"not_built","detail":"d","hint":"h"})"));
  builder.on_object(Kind::Device, object(R"({"device":1,"name":"B"})"));
  builder.on_object(Kind::Device, object(R"({"device":0,"name":"A"})"));
  Batch scopes(Kind::Scope);
  scopes.push_row({1, 0, 7, 0, 1, 0, 100, 400, 0, 0, 0});
  builder.on_batch(scopes, dictionaries);
  Batch counters(Kind::Counter);
  counters.push_row({300, 1, 5});
  builder.on_batch(counters, dictionaries);
  Batch metrics(Kind::DeviceMetric);
  metrics.push_row({450, 0, 0, 1, 5});
  metrics.push_row({460, 0, 0, 1, 7});
  builder.on_batch(metrics, dictionaries);
  builder.on_object(Kind::Event, object(R"({"time":470,"name":"xid","device":0,"code":79})"));

  const SessionSummary summary = builder.finish();
  EXPECT_EQ(summary.duration_ns, 500);
  EXPECT_FALSE(summary.ended);
  EXPECT_FALSE(summary.ledger.has_value());
  ASSERT_EQ(summary.capabilities.size(), 1u);
  EXPECT_FALSE(summary.capabilities[0].is_as_asked());
  EXPECT_EQ(summary.capabilities[0].hint, "h");
  ASSERT_EQ(summary.devices.size(), 2u);
  EXPECT_EQ(summary.devices[0]["name"].as_string(), "A");
  ASSERT_EQ(summary.counters.size(), 1u);
  ASSERT_EQ(summary.metrics.size(), 1u);
  EXPECT_EQ(summary.rows.at("device_metric"), 2u);
  EXPECT_EQ(summary.rows.at("scope"), 1u);
  EXPECT_EQ(summary.rows.at("device"), 2u);
  EXPECT_EQ(summary.rows.at("event"), 1u);
  EXPECT_EQ(summary.event_counts.at("xid"), 1u);
}

TEST(SummaryBuilderTest, DeepWindowsAreListedAndAddedUp) {
  SummaryBuilder builder;
  format::Dictionaries dictionaries;
  dictionaries.define(Dict::Name, 1, "slow step");
  dictionaries.define(Dict::Name, 2, "PcSampling");
  dictionaries.define(Dict::Text, 1, "counted_before");
  dictionaries.define(Dict::Text, 2, "kernel_launch_rate<100");
  Batch rows(Kind::DeepWindow);
  rows.push_row({100, 50, 1, 3, 2, 7, 2, 1, 2, 42, 3});
  rows.push_row({300, 20, 0, 0, 0, 5, 0, 0, 0, -1, 0});
  builder.on_batch(rows, dictionaries);
  const SessionSummary summary = builder.finish();
  const DeepWindowTotals& totals = summary.deep_windows;
  EXPECT_EQ(totals.count, 2u);
  EXPECT_EQ(totals.duration_ns, 70);
  EXPECT_EQ(totals.launches, 12u);
  ASSERT_EQ(totals.windows.size(), 2u);
  const DeepWindowFact& first = totals.windows[0];
  EXPECT_EQ(first.name, "slow step");
  EXPECT_EQ(first.opened_by, "when");
  EXPECT_EQ(first.closed_by, "launches");
  EXPECT_EQ(first.engine, "PcSampling");
  EXPECT_EQ(first.limit, "counted_before");
  EXPECT_EQ(first.condition, "kernel_launch_rate<100");
  EXPECT_EQ(first.seen, 42);
  EXPECT_EQ(first.ignored, 3u);
  EXPECT_EQ(totals.windows[1].name, "");
  EXPECT_EQ(totals.windows[1].seen, std::nullopt);
  EXPECT_EQ(summary.duration_ns, 320);
}

TEST(SummaryBuilderTest, KnowsACleanEnd) {
  SummaryBuilder builder;
  format::Ledger ledger;
  ledger.scopes_dropped = 3;
  builder.on_object(Kind::Ledger, ledger.to_json());
  builder.on_object(Kind::End, object(R"({"time":9000})"));
  const SessionSummary summary = builder.finish();
  EXPECT_TRUE(summary.ended);
  EXPECT_EQ(summary.duration_ns, 9000);
  ASSERT_TRUE(summary.ledger.has_value());
  EXPECT_EQ(summary.ledger->scopes_dropped, 3u);
  EXPECT_TRUE(summary.rows.empty());
}

TEST(SummaryBuilderTest, WhatFilesRepeatIsToldOnce) {
  SummaryBuilder builder;
  for (int i = 0; i < 3; ++i) {
    builder.on_object(Kind::Device, object(R"({"device":0,"name":"A"})"));
    builder.on_object(Kind::Capability, object(R"({"feature":"f","asked":"a","got":"b"})"));
  }
  builder.on_object(Kind::Capability, object(R"({"feature":"f","asked":"c","got":"b"})"));
  const SessionSummary summary = builder.finish();
  EXPECT_EQ(summary.devices.size(), 1u);
  EXPECT_EQ(summary.capabilities.size(), 2u);
}

TEST(SummaryBuilderTest, ListsAreBoundedAndCountsAreNot) {
  SummaryBuilder builder;
  for (int i = 0; i < 1000; ++i) {
    builder.on_problem({format::Problem::Kind::BadLine, "scope.log", 7, "text"});
    builder.on_object(Kind::Event, object(R"({"time":1,"name":"mark"})"));
  }
  const SessionSummary summary = builder.finish();
  EXPECT_EQ(summary.problems.size(), SessionSummary::kMaxProblems);
  EXPECT_EQ(summary.problem_count, 1000u);
  EXPECT_EQ(summary.events.size(), SessionSummary::kMaxEvents);
  EXPECT_EQ(summary.event_counts.at("mark"), 1000u);
}

TEST(SummaryBuilderTest, ATimeAfterTheEndDoesNotMakeTheSessionLonger) {
  SummaryBuilder builder;
  Batch counters(Kind::Counter);
  counters.push_row({1'000'000, 1, 5});
  builder.on_batch(counters, format::Dictionaries());
  builder.on_object(Kind::End, object(R"({"time":9000})"));
  EXPECT_EQ(builder.finish().duration_ns, 9000);
}

TEST(SummaryBuilderTest, TurnsOfABudgetAreCountedAndNotListed) {
  SummaryBuilder builder;
  builder.on_object(Kind::Event,
                    object(R"({"time":5,"name":"recording_resumed","why":"request"})"));
  for (int i = 0; i < 300; ++i) {
    builder.on_object(Kind::Event,
                      object(R"({"time":10,"name":"recording_paused","why":"budget"})"));
    builder.on_object(Kind::Event,
                      object(R"({"time":20,"name":"recording_resumed","why":"budget"})"));
  }
  builder.on_object(Kind::Event, object(R"({"time":30,"name":"xid"})"));
  const SessionSummary summary = builder.finish();
  EXPECT_EQ(summary.events.size(), 2u);
  EXPECT_EQ(summary.event_counts.at("recording_paused"), 300u);
  ASSERT_TRUE(summary.last_change);
  EXPECT_TRUE(summary.last_change->is_on);
  EXPECT_EQ(summary.last_change->time_ns, 20);
  EXPECT_EQ(summary.last_change->why, "budget");
}

// A log of a budget that breaks off; lines as the recorder writes them, the row before its event.
class BrokenOffLog {
 public:
  BrokenOffLog() { dictionaries_.define(Dict::Name, 1, "Trace"); }
  void phase(int64_t start, int64_t end) {
    Batch rows(Kind::Coverage);
    rows.push_row({start, end - start, 1, 0, 1, 1, 7, 1, -1, -1, -1, 5});
    builder_.on_batch(rows, dictionaries_);
  }
  void event(const char* line) { builder_.on_object(Kind::Event, object(line)); }
  void paused() { event(R"({"time":1200,"name":"recording_paused","why":"budget"})"); }
  void resumed() { event(R"({"time":5000,"name":"recording_resumed","why":"budget"})"); }
  void kernel(int64_t start) {
    Batch rows(Kind::Kernel);
    rows.mutable_column(format::kernel_column::kStart).push_back(start);
    rows.mutable_column(format::kernel_column::kDuration).push_back(10);
    rows.set_rows(1);
    builder_.on_batch(rows, dictionaries_);
  }
  SessionSummary finish() {
    builder_.on_object(Kind::Clock, object(R"({"time":9000})"));
    SessionSummary summary = builder_.finish();
    summary.header.overhead_budget_ppm = 20'000;
    return summary;
  }

 private:
  SummaryBuilder builder_;
  format::Dictionaries dictionaries_;
};

TEST(OpenPhaseTest, BeginsWithTheLastEvent) {
  BrokenOffLog log;
  log.phase(0, 1'000);
  log.paused();
  log.resumed();
  const SessionSummary summary = log.finish();
  EXPECT_EQ(summary.open_phase(), (Interval{5'000, 9'000}));
  const EngineCoverage all = summary.all_coverage();
  EXPECT_EQ(all.phases, 2u);
  EXPECT_EQ(all.phase_ns, 5'000);
  EXPECT_EQ(all.cost().total_ns(), 7);
  EXPECT_EQ(all.cost().unknown, 1u);
  EXPECT_TRUE(summary.is_budgeted());
}

TEST(OpenPhaseTest, ThereIsNoneWhileNothingIsAttached) {
  BrokenOffLog log;
  log.phase(0, 1'000);
  log.kernel(1'006);  // launched in the phase
  log.paused();
  const SessionSummary summary = log.finish();
  EXPECT_EQ(summary.open_phase(), std::nullopt);
  EXPECT_EQ(summary.all_coverage().phase_ns, 1'000);
}

TEST(OpenPhaseTest, ARowWhoseEventIsMissingEndsThePhase) {
  BrokenOffLog log;
  log.phase(0, 1'000);
  log.kernel(1'006);
  EXPECT_EQ(log.finish().open_phase(), std::nullopt);
  BrokenOffLog later;
  later.phase(0, 1'000);
  later.paused();
  later.resumed();
  later.phase(4'999, 8'000);
  later.kernel(8'001);
  EXPECT_EQ(later.finish().open_phase(), std::nullopt);
}

TEST(OpenPhaseTest, TheFirstBeginsWithTheSession) {
  BrokenOffLog log;
  EXPECT_EQ(log.finish().open_phase(), std::nullopt);  // dormant, or refused
  BrokenOffLog working;
  working.kernel(100);
  SessionSummary summary = working.finish();
  EXPECT_EQ(summary.open_phase(), (Interval{0, 9'000}));
  EXPECT_FALSE(summary.is_budgeted());  // nothing is left out
  summary.header.overhead_budget_ppm.reset();
  EXPECT_EQ(summary.open_phase(), std::nullopt);
}

TEST(SummaryBuilderTest, OnlyABudgetLeavesTimeOut) {
  const auto is_budgeted = [](int64_t why, int64_t ending) {
    SummaryBuilder builder;
    format::Dictionaries dictionaries;
    dictionaries.define(Dict::Name, 1, "Trace");
    Batch rows(Kind::Coverage);
    rows.push_row({0, 100, 1, 0, why, ending, 7, 1, -1, -1, -1, 5});
    builder.on_batch(rows, dictionaries);
    builder.on_object(Kind::End, object(R"({"time":100})"));
    SessionSummary summary = builder.finish();
    summary.header.overhead_budget_ppm = 20'000;
    return summary.is_budgeted();
  };
  EXPECT_TRUE(is_budgeted(1, 1));
  EXPECT_TRUE(is_budgeted(1, 2));   // a deep scope made it longer
  EXPECT_FALSE(is_budgeted(1, 0));  // the session ended first, or could not detach
  EXPECT_FALSE(is_budgeted(0, 4));  // samples come and go, tracing goes on
  EXPECT_FALSE(is_budgeted(4, 4));
  EXPECT_FALSE(is_budgeted(2, 4));
  EXPECT_FALSE(is_budgeted(3, 3));
}

TEST(SummaryBuilderTest, GathersCoverageByEngine) {
  SummaryBuilder builder;
  format::Dictionaries dictionaries;
  dictionaries.define(Dict::Name, 1, "Trace");
  dictionaries.define(Dict::Name, 2, "PcSampling");
  Batch rows(Kind::Coverage);
  // start, dur, engine, shape, why, ending, cost, measure, device, samples, dropped, launches
  rows.push_row({0, 100, 1, 0, 1, 1, 7, 1, -1, -1, -1, 5});
  rows.push_row({200, 50, 1, 0, 1, 1, 3, 2, -1, -1, -1, 5});
  rows.push_row({300, 40, 1, 0, 1, 1, -1, 0, -1, -1, -1, 5});
  rows.push_row({400, 90, 2, 0, 1, 0, -1, 0, -1, -1, -1, 5});
  rows.push_row({410, 10, 2, 1, 4, 4, 2, 1, 0, 80, 1, -1});
  rows.push_row({420, 10, 2, 9, 4, 4, 2, 1, 0, 80, 1, -1});  // a shape of a later version
  builder.on_batch(rows, dictionaries);
  const SessionSummary summary = builder.finish();
  ASSERT_EQ(summary.coverage.size(), 2u);
  const EngineCoverage& sampling = summary.coverage[0];
  EXPECT_EQ(sampling.engine, "PcSampling");
  EXPECT_EQ(sampling.phases, 1u);
  EXPECT_EQ(sampling.windows, 1u);
  EXPECT_EQ(sampling.samples, 80u);
  EXPECT_EQ(sampling.cost().total_ns(), 2);  // of its window: the phase's is unknown
  EXPECT_EQ(sampling.cost().unknown, 1u);
  const EngineCoverage& trace = summary.coverage[1];
  EXPECT_EQ(trace.phase_ns, 190);
  EXPECT_EQ(trace.cost().total_ns(), 10);
  EXPECT_EQ(trace.cost().unknown, 1u);
  EXPECT_EQ(trace.cost().measure(), "calls and steps");
  EXPECT_TRUE(summary.is_budgeted());
  EXPECT_EQ(sum_of(summary.coverage).phase_ns, 280);
}

TEST(SummaryBuilderTest, HostFactsAreNoEvent) {
  SummaryBuilder builder;
  builder.on_object(Kind::Event, object(R"({"time":0,"name":"host_facts","core_count":4})"));
  const SessionSummary summary = builder.finish();
  EXPECT_EQ(summary.host_facts["core_count"].as_integer(), 4);
  EXPECT_TRUE(summary.events.empty());
  EXPECT_TRUE(summary.event_counts.empty());
}

TEST(SummaryBuilderTest, WhatIsMerelyNewerIsNoFault) {
  SummaryBuilder builder;
  builder.on_problem({format::Problem::Kind::UnknownColumn, "scope.log", 0, "1 unknown column"});
  builder.on_problem({format::Problem::Kind::UnknownKind, "scope.log", 0, "1 line"});
  const SessionSummary newer = builder.finish();
  EXPECT_EQ(newer.problem_count, 2u);
  EXPECT_FALSE(newer.has_faults);
  SummaryBuilder other;
  other.on_problem({format::Problem::Kind::TornLine, "scope.log", 3, "torn"});
  EXPECT_TRUE(other.finish().has_faults);
}

TEST(SummaryBuilderTest, ATimeThatOverflowsIsNotTheDuration) {
  SummaryBuilder builder;
  Batch scopes(Kind::Scope);
  scopes.push_row({1, 0, 7, 0, 1, 0, INT64_MAX - 5, 400, 0, 0, 0});
  scopes.push_row({2, 0, 7, 0, 1, 0, 100, 400, 0, 0, 0});
  builder.on_batch(scopes, format::Dictionaries());
  EXPECT_EQ(builder.finish().duration_ns, 500);
}

TEST(SummarizeTest, SaysWhenThereIsNoSession) {
  const auto summary = summarize("/nonexistent/session");
  ASSERT_FALSE(summary.is_ok());
  EXPECT_EQ(summary.status().code(), base::Code::NotFound);
}

TEST(SummaryBuilderTest, SurvivesNumbersAtTheEndsOfTheRange) {
  format::Dictionaries dictionaries;
  dictionaries.define(Dict::Name, 1, "n");
  for (const char* end : {R"({"time":-9223372036854775808})", R"({"time":9223372036854775807})"}) {
    SummaryBuilder builder;
    format::WindowFile deleted;
    deleted.channel = format::Channel::Scope;
    deleted.state = format::WindowFile::State::Deleted;
    builder.on_window(deleted);
    Batch counters(Kind::Counter);
    counters.push_row({INT64_MIN, 1, INT64_MIN});
    counters.push_row({INT64_MAX, 1, INT64_MAX});
    builder.on_batch(counters, dictionaries);
    builder.on_object(Kind::End, object(end));
    const SessionSummary summary = builder.finish();
    EXPECT_GE(summary.duration_ns, 0);
    ASSERT_EQ(summary.counters.size(), 1u);
    EXPECT_EQ(summary.counters[0].increase(), INT64_MAX);
    EXPECT_EQ(summary.counters[0].span_ns, INT64_MAX);
  }
}

}  // namespace
}  // namespace gpufl::analysis
