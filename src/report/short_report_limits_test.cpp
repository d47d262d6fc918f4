// SPDX-License-Identifier: Apache-2.0
// However much a session has of everything, and however long its names are: a short report fits on
// a screen, and what is wrong is on its first lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/insights/test_program.hpp"
#include "analysis/overview/run_overview.hpp"
#include "analysis/warp/pipeline_simulator.hpp"
#include "report/run_report.hpp"
#include "report/short_report.hpp"
#include "report/test_report.hpp"

namespace gpufl::report {
namespace {

using analysis::testing::TestProgram;

constexpr int64_t kMs = 1'000'000, kS = 1'000'000'000;
constexpr int kGpus = 8;

size_t lines_of(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

// With and without spaces.
std::string long_name(std::string_view name, int number) {
  std::string text = std::string(name) + "_" + std::to_string(number);
  for (int i = 0; i < 30; ++i) text += i % 5 == 4 ? " of a long name" : "/in_a_long_folder";
  return text;
}

struct Shape {
  bool has_warnings = true, has_refusals = true, is_traced = true, has_end = false;
};

void add_head(analysis::SessionSummary& summary, const Shape& shape) {
  summary.dir = "gpufl-logs/" + std::string(300, 'd');
  summary.header.app_name = long_name("app", 0);
  summary.header.process = long_name("process", 0);
  summary.header.host = long_name("host", 0);
  summary.header.engine = shape.is_traced ? "PcSampling" : "Monitor";
  summary.header.rank = 1'000;
  summary.header.world_size = 4'096;
  summary.header.local_rank = 7;
  summary.header.overhead_budget_ppm = 10'000;
  summary.header.backends = {{"nvidia", "Trace"}, {"amd", "Monitor"}};
  summary.duration_ns = 2 * kS;
  for (int i = 0; i < 9; ++i) {
    if (shape.has_warnings) {
      base::Json event = base::Json::object();
      event.set("time", 0).set("name", "option_warning").set("text", long_name("GPUFL_OPTION", i));
      summary.events.push_back(std::move(event));
    }
    if (shape.has_refusals) {
      summary.capabilities.push_back({i == 0 ? "profiling_engine" : long_name("feature", i), "Deep",
                                      "Monitor", "refused", long_name("detail", i),
                                      long_name("hint", i), "nvidia"});
    }
    summary.pending.push_back({long_name("call", i), kS + i, 1, i % kGpus, i, 0, "spin"});
  }
  if (shape.has_end) {
    summary.ended = true;
    format::Ledger& ledger = summary.ledger.emplace();
    ledger.scopes_dropped = 12;
    ledger.samples_missed = 3;
    ledger.events_dropped = 4;
    ledger.names_overflowed = 5;
    ledger.vendor_dropped = ledger.notes_dropped = ledger.launches_missing = 6;
    ledger.stacks_dropped = ledger.markers_dropped = 7;
    for (int i = 0; i < 20; ++i) ledger.writer.dropped[long_name("kind", i)] = 8;
  }
}

void add_work(TestProgram& program) {
  const std::string stall = "smsp__pcsamp_warps_issue_stalled_long_scoreboard";
  int64_t parent = 0;
  for (int i = 0; i < 60; ++i) {
    const int64_t start = i * 20 * kMs;
    const std::string kernel = long_name("kernel", i);
    const uint32_t stack =
        program.line("/" + long_name("file", i) + ".py", i, long_name("function", i));
    // One inside the other, each as long as what is inside.
    parent = program.scope(long_name("scope", i), 0, 2 * kS, {.parent = parent});
    program.kernel(kernel, start, 5 * kMs, {.device = i % kGpus, .scope = parent, .stack = stack});
    program.copy(1, 1 << 20, start + 6 * kMs, 5 * kMs, {.device = i % kGpus, .stack = stack});
    program.wait(3, start, 19 * kMs, {.device = i % kGpus, .stack = stack});
    program.pc_sample(kernel, 16, stall, 50, {.time = start, .device = i % kGpus});
    program.api_call(long_name("cuCall", i), start, kMs, 700, "CUDA_ERROR_ILLEGAL_ADDRESS",
                     {.stack = stack});
  }
  analysis::testing::add_pipeline(program, {.correlation = 9});
  for (format::WarpLaunch& launch : program.data.tables.warp_launches) {
    launch.dropped = 12;
    launch.offered = launch.records + 12;
    launch.full_lanes = 3;
    for (int i = 0; i < 9; ++i) launch.problems.push_back(long_name("problem", i));
  }
}

TestReport crowded(const Shape& shape, const analysis::AnalysisOptions& options = {}) {
  TestProgram program;
  add_head(program.data.summary, shape);
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    program.device_fact(gpu, "name", base::Json(long_name("GPU", gpu)));
    for (int64_t i = 0; i < 20; ++i) {
      program.metric("gpu_util_pct", gpu, i * 100 * kMs, 50, 0);
      program.metric("memory_used_bytes", gpu, i * 100 * kMs, 99, 0);
      program.metric("memory_total_bytes", gpu, i * 100 * kMs, 100, 0);
      program.metric("clock_limits_bits", gpu, i * 100 * kMs, 0xffff, 0);
    }
  }
  if (shape.is_traced) add_work(program);
  for (int i = 0; i < 9; ++i) {
    program.marker(long_name("marker", i), i * kMs, kMs);
    analysis::MarkerTotal marker;
    marker.name = long_name("marker", i);
    marker.open = 3;
    program.data.summary.markers.push_back(std::move(marker));
  }
  const analysis::CodeMap code = program.code();
  analysis::SessionData session = program.finish();
  session.code = code;
  return TestReport(std::move(session), options);
}

void expect_fits(const TestReport& report, const std::string& what) {
  const bool has_alarm =
      std::any_of(report.insights.begin(), report.insights.end(),
                  [](const auto& insight) { return insight.severity == analysis::Severity::High; });
  ASSERT_TRUE(has_alarm) << what;
  for (const size_t width : {60, 61, 72, 80, 100, 140, 200, 1000}) {
    const std::string text = report.short_text({.width = width});
    EXPECT_LE(lines_of(text), kMaxShortLines) << what << " " << width << "\n" << text;
    EXPECT_GT(lines_of(text), kMaxShortLines / 2) << what << " " << width << "\n" << text;
    const size_t alarm = text.find("  1. HIGH");
    ASSERT_NE(alarm, std::string::npos) << what << "\n" << text;
    EXPECT_LT(lines_of(text.substr(0, alarm)), 10u) << what << " " << width << "\n" << text;
    EXPECT_NE(text.find("all the rest  "), std::string::npos) << what << "\n" << text;
  }
}

TEST(ShortReportLimitsTest, ACrowdedSessionFitsAndSaysFirstWhatIsWrong) {
  expect_fits(crowded({}), "cut off");
  expect_fits(crowded({.has_end = true}), "with losses");
  expect_fits(crowded({.has_refusals = false}), "warnings alone");
  expect_fits(crowded({.has_warnings = false}), "refusals alone");
  expect_fits(crowded({.is_traced = false}), "monitor");
  analysis::AnalysisOptions chosen;
  chosen.scope = "scope*" + std::string(200, '*');
  chosen.device = 0;
  expect_fits(crowded({}, chosen), "a scope");
}

TEST(ShortReportLimitsTest, OfSeveralNotesTheFirstAndHowManyThereAre) {
  const std::string text = crowded({}).short_text({.width = 100});
  EXPECT_NE(text.find("\n  ! 9 options not used as given (--full lists all):"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  ! 9 features not as asked for (--full lists all): profiling engine of "
                      "nvidia: asked for Deep, got"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  no room here for          stalls, what happens in kernels"),
            std::string::npos)
      << text;
}

TEST(ShortReportLimitsTest, ACrowdedRunFitsToo) {
  analysis::RunData run;
  run.id = long_name("run", 0);
  std::vector<std::vector<analysis::Insight>> insights;
  for (int i = 0; i < 9; ++i) {
    TestReport report = crowded({.has_end = i % 2 == 0});
    report.session.summary.header.rank = i;
    report.session.summary.event_counts["no_session_left"] = 1;
    insights.push_back(report.insights);
    run.sessions.push_back(std::move(report.session));
    run.offset_ns.push_back(0);
  }
  const analysis::RunOverview overview = analysis::analyze_run(run);
  for (const size_t width : {60, 80, 140}) {
    const TextOptions options{.width = width, .lines_below = 10};
    const std::string text = run_report({run, overview, {}, 3, insights}, options);
    EXPECT_LE(lines_of(text) + options.lines_below, kMaxShortLines) << width << "\n" << text;
    const size_t alarm = text.find("  1. HIGH");
    ASSERT_NE(alarm, std::string::npos) << text;
    EXPECT_LT(lines_of(text.substr(0, alarm)), 10u) << width << "\n" << text;
  }
}

TEST(ShortReportLimitsTest, WhatTheCallerAddsBelowHasItsRoom) {
  const TestReport report = crowded({});
  for (const size_t below : {2, 4}) {
    const std::string text = report.short_text({.width = 80, .lines_below = below});
    EXPECT_LE(lines_of(text) + below, kMaxShortLines) << text;
  }
}

}  // namespace
}  // namespace gpufl::report
