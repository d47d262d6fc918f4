// SPDX-License-Identifier: Apache-2.0
#include "report/short_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analysis/insights/test_program.hpp"
#include "report/test_report.hpp"

namespace gpufl::report {
namespace {

using analysis::SessionData;
using analysis::testing::TestProgram;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kS = 1'000'000'000;

ptrdiff_t lines_of(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }
bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Waits for most of its time, as a session of the engine Trace.
TestProgram waiting_program() {
  TestProgram program;
  analysis::SessionSummary& summary = program.data.summary;
  summary.dir = "logs/one";
  summary.header.app_name = "train";
  summary.header.process = "python3";
  summary.header.engine = "Trace";
  summary.duration_ns = kS;
  summary.ended = true;
  summary.ledger.emplace();
  for (int i = 0; i < 10; ++i) {
    program.kernel("gemm", i * 100 * kMs, 60 * kMs);
    program.wait(3, i * 100 * kMs, 60 * kMs);
  }
  return program;
}

TEST(ShortReportTest, NamesTheSessionTheVerdictAndTheWayToTheRest) {
  const std::string text = TestReport(waiting_program().finish()).short_text();
  EXPECT_EQ(text.find("GPUFlight report: train\n  python3"), 0u) << text;
  EXPECT_TRUE(has(text, "  ledger                    complete: no loss is known\n")) << text;
  EXPECT_TRUE(text.ends_with("  all the rest              gpufl report --full logs/one\n")) << text;
  EXPECT_FALSE(has(text, "\n\n\n")) << text;
}

TEST(ShortReportTest, OptionsThatCouldNotBeUsedAreOnItsFirstLines) {
  TestProgram program = waiting_program();
  for (const char* key : {"GPUFL_A", "GPUFL_B", "GPUFL_C"}) {
    base::Json event = base::Json::object();
    event.set("time", 0).set("name", "option_warning");
    event.set("text", std::string("environment: bad_value: ") + key + ": 'x' is not one of y");
    program.data.summary.events.push_back(std::move(event));
  }
  const TestReport report(program.finish());
  const std::string text = report.short_text();
  const size_t first = text.find("\n  ! option not used as given: environment: bad_value: GPUFL_A");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(lines_of(text.substr(0, first)), 1);
  EXPECT_TRUE(has(text, "GPUFL_B: 'x' is not one of y\n  ... 1 more\n")) << text;
  const std::string full = report.text();
  EXPECT_LT(full.find("GPUFL_C: 'x' is not one of y\n"), full.find("SESSION")) << full;
}

TEST(ShortReportTest, WhereWaitsDominateItSaysHowToSeeTheirLines) {
  const std::string text = TestReport(waiting_program().finish()).short_text();
  EXPECT_TRUE(has(text, "-> To see which lines wait, record with enable_stack_trace")) << text;
  TestProgram program = waiting_program();
  program.data.summary.duration_ns = 100 * kS;
  EXPECT_FALSE(has(TestReport(program.finish()).short_text(), "To see which lines wait"));
}

TEST(ShortReportTest, HoweverManyListsThereAreItFitsOnAScreen) {
  TestProgram program = waiting_program();
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i);
    program.scope("scope_" + number, i * 20 * kMs, 19 * kMs);
    program.kernel("kernel_" + number, i * 20 * kMs, 5 * kMs, {.device = i % 8});
    program.data.summary.capabilities.push_back(
        {"feature_" + number, "on", "off", "refused", "", "ask somebody for " + number});
  }
  const TestReport report(program.finish());
  for (const size_t width : {80, 100, 140}) {
    const std::string text = report.short_text({.width = width});
    EXPECT_LE(lines_of(text), static_cast<ptrdiff_t>(kMaxShortLines)) << text;
    EXPECT_TRUE(has(text, "scope_")) << text;
    EXPECT_TRUE(has(text, "! feature 0: asked for, not available (refused) -> ask")) << text;
  }
  EXPECT_GT(lines_of(report.text()), static_cast<ptrdiff_t>(kMaxShortLines));
}

TEST(ShortReportTest, AsManyRowsAsWereAskedFor) {
  TestProgram program = waiting_program();
  for (int i = 0; i < 40; ++i) program.kernel("kernel_" + std::to_string(i), i * 20 * kMs, 5 * kMs);
  const TestReport report(program.finish());
  const auto rows = [&](const TextOptions& options) {
    const std::string text = report.short_text(options);
    size_t count = 0;
    for (size_t at = text.find("\n  kernel_"); at != std::string::npos; ++count) {
      at = text.find("\n  kernel_", at + 1);
    }
    return count;
  };
  EXPECT_EQ(rows({}), 4u) << "gemm is the fifth";
  EXPECT_EQ(rows({.top = 12, .has_top = true}), 11u);
  EXPECT_EQ(rows({.top = 0, .has_top = true}), 40u);
  EXPECT_EQ(rows({.top = 1, .has_top = true}), 0u);
}

TEST(ShortReportTest, NamesTheLinesWithMostGpuTime) {
  EXPECT_FALSE(has(TestReport(waiting_program().finish()).short_text(), "\n  lines"));
  TestProgram program = waiting_program();
  const uint32_t first = program.line("/home/me/train.py", 81, "train_step");
  const uint32_t second = program.line("/home/me/model.py", 12, "Model.forward");
  for (int i = 0; i < 10; ++i) {
    program.kernel("add", i * 100 * kMs + 60 * kMs, (i < 8 ? 20 : 10) * kMs,
                   {.stack = i < 8 ? first : second});
  }
  SessionData session = program.finish();
  session.code = program.code({});
  const std::string text = TestReport(std::move(session)).short_text();
  EXPECT_TRUE(has(text,
                  "  lines                     (no stack) 76.9%, train.py:81 in train_step() "
                  "20.5%, model.py:12 in"))
      << text;
  EXPECT_TRUE(has(text, " of GPU time\n")) << text;
}

TEST(ShortReportTest, OfAChoiceTheWayToTheRestHasTheSameChoice) {
  TestProgram program = waiting_program();
  for (int i = 0; i < 10; ++i) program.scope("update it", i * 100 * kMs, 60 * kMs);
  analysis::AnalysisOptions options;
  options.scope = "upd*";
  options.device = 0;
  const TestReport report(program.finish(), options);
  const std::string text = report.short_text();
  EXPECT_TRUE(has(text, " gpufl report --full --scope 'upd*' --device 0 logs/one\n")) << text;
}

TEST(ShortReportTest, TheCauseOfMissingWorkIsGivenOnceAndInWords) {
  TestProgram program = waiting_program();
  analysis::SessionSummary& summary = program.data.summary;
  summary.header.engine = "Monitor";
  summary.capabilities = {
      {"profiling_engine", "Trace", "Monitor", "no_session_left", "nothing was left", "ask"}};
  TestProgram empty;
  empty.data.summary = summary;
  const std::string text = TestReport(empty.finish()).short_text();
  EXPECT_TRUE(
      has(text, "  ! profiling engine: asked for Trace, got Monitor: nothing was left -> ask\n"))
      << text;
  EXPECT_EQ(text.find("nothing was left"), text.rfind("nothing was left")) << text;
  EXPECT_FALSE(has(text, "no_session_left")) << text;
}

TEST(ShortReportTest, WhatIsWrongComesBeforeWhatIsSlow) {
  TestProgram program = waiting_program();
  program.data.summary.ledger.reset();
  program.data.summary.ended = false;
  const TestReport report(program.finish());
  const std::string text = report.short_text();
  const size_t alarm = text.find("  1. HIGH: The session was cut off");
  ASSERT_NE(alarm, std::string::npos) << text;
  EXPECT_LE(lines_of(text.substr(0, alarm)), 9) << text;
  EXPECT_TRUE(has(report.text(), "\n  1. The session was cut off")) << report.text();
  EXPECT_TRUE(has(text, ": at least ")) << text;
  EXPECT_TRUE(has(text, ", then cut off, engine Trace")) << text;
}

TEST(ShortReportTest, LostScopesMakeCountsLowerBounds) {
  const auto report_of = [](uint64_t dropped) {
    TestProgram program = waiting_program();
    for (int64_t i = 0; i < 5; ++i) program.scope("turn", i * kMs, kMs / 2);
    format::Ledger& ledger = program.data.summary.ledger.emplace();
    ledger.scopes_dropped = dropped;
    return TestReport(program.finish());
  };
  for (const bool is_full : {false, true}) {
    const TextOptions options{.width = 140, .is_full = is_full};
    const TestReport whole = report_of(0), lossy = report_of(1'234);
    EXPECT_FALSE(has(text_report(whole.view(), options), ">= ")) << is_full;
    const std::string text = text_report(lossy.view(), options);
    EXPECT_TRUE(has(text, ">= 5  >= 2.500 ms")) << text;
    EXPECT_TRUE(has(text, "(>=): 1,234 scopes were lost because the ring")) << text;
    EXPECT_TRUE(has(text, "mark fewer, longer parts")) << text;
  }
}

TEST(ShortReportTest, CountsOfASessionThatWasCutOffAreLowerBounds) {
  TestProgram program = waiting_program();
  for (int64_t i = 0; i < 10; ++i) program.scope("turn", i * 100 * kMs, 90 * kMs);
  program.data.summary.ledger.reset();
  program.data.summary.ended = false;
  const TestReport report(program.finish());
  const std::string text = report.short_text({.width = 140});
  EXPECT_TRUE(has(text, ">= 10  >= 900.0 ms")) << text;
  EXPECT_TRUE(has(text, "  iterations                at least 10 (turn)")) << text;
  EXPECT_TRUE(has(text, "(>=): the session was cut off, so the last ones may be missing")) << text;
  EXPECT_TRUE(has(report.text({.width = 140}), "ITERATIONS: at least 10,"));
}

TEST(ShortReportTest, AnImportedTraceListsNothingThatNobodyAskedFor) {
  TestProgram program = waiting_program();
  program.data.summary.capabilities = {
      {"recording", "gpufl", "nsight_systems", "imported", "imported from a.sqlite"},
      {"occupancy", "on", "off", "imported", "the trace does not contain the occupancy"}};
  const TestReport report(program.finish());
  EXPECT_FALSE(has(report.short_text(), "asked for, not available"));
  EXPECT_TRUE(has(report.short_text(), "imported from a.sqlite (nsight_systems)\n"));
  const std::string full = report.text();
  EXPECT_FALSE(has(full, "asked for, not available")) << full;
  EXPECT_GT(full.find("occupancy: the trace does not contain"), full.find("NOT RECORDED")) << full;
}

TEST(ShortReportTest, OfAMonitorHealthAndHowToRecordMore) {
  TestProgram program;
  program.data.summary.header.engine = "Monitor";
  program.data.summary.duration_ns = kS;
  program.data.summary.ended = true;
  program.data.summary.ledger.emplace();
  program.metric("gpu_util_pct", 0, kMs, 50, 0);
  program.metric("temperature_c", 0, kMs, 41, 0);
  program.metric("cpu_util_permille", -1, kMs, 250, 0);
  const std::string text = TestReport(program.finish()).short_text();
  EXPECT_TRUE(has(text, "HEALTH\n  gpu  mean use  hottest\n  0         50%     41 C\n")) << text;
  EXPECT_TRUE(has(text, "25.0% of all cores busy\n")) << text;
  EXPECT_TRUE(has(text, "  GPU work                  the engine Monitor records no")) << text;
  EXPECT_FALSE(has(text, "GPU TIME")) << text;
}

TEST(ShortReportTest, MarkdownHasTheSameParts) {
  const TestReport report(waiting_program().finish());
  const std::string text = markdown_report(report.view());
  for (const char* part : {"### GPU TIME", "### KERNELS", "### SYNCHRONIZATION", "all the rest"}) {
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  }
  EXPECT_FALSE(has(text, "### COST OF RECORDING"));
  EXPECT_TRUE(has(markdown_report(report.view(), {.is_full = true}), "### COST OF RECORDING"));
}

}  // namespace
}  // namespace gpufl::report
