// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "analysis/session/test_tables.hpp"
#include "report/json_report.hpp"
#include "report/test_report.hpp"

namespace gpufl::report {
namespace {

using analysis::testing::TestSession;

constexpr int64_t kS = 1'000'000'000;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Phases of a second in each of which gemm takes 300 or 310 ms and relu 100, every tenth second.
TestSession budgeted(int64_t phases, format::CostMeasure measure = format::CostMeasure::Calls) {
  TestSession session;
  session.data.summary.duration_ns = 100 * kS;
  session.data.summary.ended = true;
  session.data.summary.header.engine = "Trace";
  session.data.summary.header.overhead_budget_ppm = 20'000;
  format::Ledger& ledger = session.data.summary.ledger.emplace();
  ledger.launches_seen = ledger.kernel_records = static_cast<uint64_t>(2 * phases);
  ledger.launches_missing = 0;
  ledger.vendor_dropped = 0;
  for (int64_t i = 0; i < phases; ++i) {
    const int64_t start = (1 + 10 * i) * kS;
    session.coverage("Trace", start, kS, {.cost_ns = kS / 10, .measure = measure});
    session.kernel("gemm", start + kS / 10, (30 + i % 2) * kS / 100);
    session.kernel("relu", start + kS / 2, kS / 10);
  }
  return session;
}

TEST(CoverageSection, TheLedgerStatesWhatItProves) {
  const std::string text = text_of(budgeted(10).finish());
  EXPECT_TRUE(has(text,
                  "LEDGER: complete inside 10 phases, which cover 10.0% of the session: no "
                  "loss is known"))
      << text;
  EXPECT_TRUE(has(text, "2% asked for")) << text;
  EXPECT_TRUE(has(text, "10 phases (10.00 s, 10.0% of the session)")) << text;
  EXPECT_TRUE(has(text, "1.000 s, 1.0% of the session, from our own calls and waits")) << text;
}

TEST(CoverageSection, SaysByWhichMeasureTheCostIsKnown) {
  EXPECT_TRUE(has(text_of(budgeted(3, format::CostMeasure::Steps).finish()),
                  "from the program's steps, inside phases"));
}

TEST(CoverageSection, TotalsAreThoseOfThePhasesAndSharesAreEstimates) {
  const std::string text = text_of(budgeted(10).finish());
  EXPECT_TRUE(has(text,
                  "traced in 10 phases, which cover 10.0% of the session: totals are those of "
                  "the phases"))
      << text;
  EXPECT_TRUE(has(text, "in the phases that were traced")) << text;
  EXPECT_TRUE(has(text, "~75.3% ±")) << text;
  EXPECT_TRUE(has(text, "of 10.00 s recorded")) << text;
}

// All kinds of them, which the ledger counts as one.
TEST(CoverageSection, LaunchesAreHeldNotOnlyByWindows) {
  TestSession session = budgeted(3);
  format::Ledger& ledger = *session.data.summary.ledger;
  ledger.launches_held = 7;
  ledger.launches_held_ns = 186'600'000;
  ledger.longest_hold_ns = 166'400'000;
  ledger.longest_window_hold_ns = 3'100'000;
  const std::string text = text_of(session.finish());
  EXPECT_TRUE(has(text, "7, 186.6 ms in total, 166.4 ms at most")) << text;
  EXPECT_TRUE(has(text, "3.100 ms")) << text;
  EXPECT_FALSE(has(text, "while a window opened")) << text;
}

TEST(CoverageSection, OfTwoPhasesTheShareOfTheRunIsUnknown) {
  const std::string text = text_of(budgeted(2).finish());
  EXPECT_TRUE(has(text, "Shares of the whole run are unknown: at least 3 phases")) << text;
  EXPECT_FALSE(has(text, "±")) << text;
}

TEST(CoverageSection, InferredPhasesAreSaidToBe) {
  TestSession session = budgeted(4);
  session.data.summary.ended = false;
  session.data.summary.ledger.reset();
  session.data.summary.last_change = {true, 94 * kS, "budget"};
  session.kernel("gemm", 95 * kS, kS / 10);
  const std::string text = text_of(session.finish());
  EXPECT_TRUE(has(text, "the last phase has no row")) << text;
  // Every figure has it: the phases, their share and their cost.
  EXPECT_TRUE(has(text, "traced in 5 phases, which cover 10.0% of the session")) << text;
  EXPECT_TRUE(has(text, "4 phases (4.000 s, 4.0% of the session)")) << text;
  EXPECT_TRUE(has(text, "1 phase (6.000 s, 6.0% of the session) without a row")) << text;
  EXPECT_TRUE(has(text, "400.0 ms, 0.4% of the session")) << text;
  EXPECT_TRUE(has(text, "overhead records; unknown for 1 more")) << text;
}

TEST(CoverageSection, ALogThatBreaksOffDetachedHasNoOtherPhase) {
  TestSession session = budgeted(4);
  session.data.summary.ended = false;
  session.data.summary.ledger.reset();
  session.data.summary.last_change = {false, 32 * kS + kS / 10, "budget"};
  session.kernel("gemm", 32 * kS + 6'000, kS / 10);  // launched in the phase
  const std::string text = text_of(session.finish());
  EXPECT_TRUE(has(text, "traced in 4 phases, which cover 4.0% of the session")) << text;
  EXPECT_TRUE(has(text, "of 4.000 s recorded")) << text;
  EXPECT_FALSE(has(text, "without a row")) << text;
  EXPECT_FALSE(has(text, "unknown for")) << text;
}

TEST(CoverageSection, TurnsOfSamplesLeaveSharesAndTotalsAsTheyAre) {
  TestSession session;
  session.data.summary.duration_ns = 61 * kS;
  session.data.summary.ended = true;
  session.data.summary.header.engine = "PcSampling";
  session.data.summary.ledger.emplace().launches_seen = 1;
  session.data.summary.ledger->kernel_records = 1;
  session.data.summary.ledger->launches_missing = 0;
  session.data.summary.ledger->vendor_dropped = 0;
  session.coverage(
      "PcSampling", 0, 60 * kS,
      {.why = format::CoverageReason::Session, .ending = format::CoverageEnd::Schedule});
  session.coverage(
      "Trace", 60 * kS + kS / 20, 19 * kS / 20,
      {.why = format::CoverageReason::Schedule, .ending = format::CoverageEnd::Session});
  session.kernel("gemm", kS, kS);
  const std::string text = text_of(session.finish());
  EXPECT_FALSE(has(text, "totals are those of the phases")) << text;
  EXPECT_FALSE(has(text, "Shares of the whole run")) << text;
  EXPECT_TRUE(has(text, "LEDGER: complete inside 2 phases, which cover 99.9% of")) << text;
}

TEST(CoverageSection, SessionsWithoutPhasesSayNothing) {
  TestSession session;
  session.kernel("gemm", 0, kS);
  const std::string text = text_of(session.finish());
  EXPECT_FALSE(has(text, "phase")) << text;
  EXPECT_FALSE(has(text, "of the run")) << text;
}

TEST(CoverageSection, Json) {
  const TestReport report(budgeted(10).finish());
  const auto parsed = base::Json::parse(json_report(report.view()));
  ASSERT_TRUE(parsed.is_ok());
  const base::Json& coverage = (*parsed)["coverage"];
  EXPECT_TRUE(coverage["is_budgeted"].as_bool());
  EXPECT_EQ(coverage["budget_ppm"].as_integer(), 20'000);
  EXPECT_EQ(coverage["phases"].as_integer(), 10);
  EXPECT_EQ(coverage["engines"].items()[0]["measure"].as_string(), "calls");
  const base::Json& gemm = (*parsed)["kernels"]["by_name"].items()[0];
  const base::Json& share = gemm["estimate"]["share"];
  EXPECT_EQ(share["phases"].as_integer(), 10);
  EXPECT_LT(share["low"].as_number(), share["value"].as_number());
  EXPECT_GT(share["high"].as_number(), share["value"].as_number());
  // A hundred seconds, of which ten were seen: the first phase stands for 6.5 of them, the last for
  // 13.5, the others for ten.
  EXPECT_NEAR(gemm["estimate"]["total_ns"]["value"].as_number(), 46.5 * 0.3e9 + 53.5 * 0.31e9, 1);
}

}  // namespace
}  // namespace gpufl::report
