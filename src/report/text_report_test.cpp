// SPDX-License-Identifier: Apache-2.0
#include "report/text_report.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "analysis/insights/test_program.hpp"
#include "report/test_report.hpp"
#include "report/text_page.hpp"
#include "text/display.hpp"

namespace gpufl::report {
namespace {

using analysis::SessionData;
using analysis::SessionSummary;
using analysis::testing::TestProgram;
using base::Json;

constexpr int64_t kUs = 1'000;
constexpr int64_t kMs = 1'000'000;
constexpr int64_t kS = 1'000'000'000;

Json object(std::string_view text) {
  auto parsed = Json::parse(text);
  EXPECT_TRUE(parsed.is_ok()) << text;
  return parsed.is_ok() ? *parsed : Json();
}

SessionSummary small_session() {
  SessionSummary summary;
  summary.dir = "/var/log/gpufl/train/20251115T034512Z-1f2e3d4c5b6a7988";
  auto& header = summary.header;
  header.session_id = "20251115T034512Z-1f2e3d4c5b6a7988";
  header.run_id = "slurm-4711";
  header.app_name = "train";
  header.gpufl_version = "0.1.0";
  header.engine = "Monitor";
  header.backend = "nvidia";
  header.start_wall_ns = 1763178312123456789;
  header.pid = 4242;
  header.process = "train";
  header.command = "./train --epochs 3";
  header.host = "node7";
  header.os = "Linux 6.1.0-28-amd64";
  header.rank = 3;
  header.world_size = 8;
  header.local_rank = 1;
  summary.duration_ns = 12'345'000'000;
  summary.ended = true;
  return summary;
}

analysis::MarkerTotal marker(std::string name, std::string domain, uint64_t marks,
                             std::initializer_list<double> durations_ms) {
  analysis::MarkerTotal total;
  total.name = std::move(name);
  total.domain = std::move(domain);
  total.marks = marks;
  for (const double duration : durations_ms) total.duration_ns.add(duration * 1e6);
  return total;
}

SessionSummary full_summary() {
  SessionSummary summary = small_session();
  summary.capabilities = {
      {"profiling_engine", "Trace", "Monitor", "not_in_this_version",
       "This version records health, scopes and counters; it has no Trace engine.",
       "Leave profiling_engine at Monitor to be rid of this note."},
      {"health", "nvidia", "nvidia", "", "", ""},
  };
  format::Ledger ledger;
  ledger.samples_taken = 246;
  ledger.collector_cpu_ns = 15'400'000;
  ledger.writer.rows = {{"device_metric", 3936}, {"scope", 1234}, {"counter", 50}};
  ledger.writer.raw_bytes = 181234;
  ledger.writer.sealed_bytes = 40321;
  ledger.writer.windows_sealed = 2;
  summary.ledger = ledger;
  summary.rows = ledger.writer.rows;
  summary.rows["kernel"] = 12;
  summary.host_facts = object(R"({"core_count":192,"cpu_model":"AMD EPYC 9654",
      "ram_total_bytes":1623497637888,"cgroup_cpu_limit_permille":16000})");
  summary.devices = {
      object(R"({"device":0,"name":"NVIDIA H200","uuid":"GPU-6a1b","pci_bus":"00000000:1B:00.0",
                 "driver":"570.86.15","compute_units":132,"memory_bytes":150754820096,
                 "compute_major":9,"compute_minor":0})"),
      object(R"({"device":1,"parent":0,"name":"MIG 1g.18gb"})")};

  summary.markers = {marker("iteration", "", 0, {400, 410, 420}),
                     marker("AllReduce", "NCCL", 0, {1.5, 2.5}), marker("checkpoint", "", 3, {}),
                     marker("", "dataloader", 1, {})};
  summary.events = {object(R"({"time":5000000000,"name":"xid","device":0,"code":79,
                              "text":"GPU has fallen off the bus"})"),
                    object(R"({"time":6000000000,"name":"system_start","text":"phase"})"),
                    object(R"({"time":0,"name":"option_warning","reason":"unknown_key",
                              "source":"gpufl.json","key":"log_pth","line":3,
                              "text":"gpufl.json:3: unknown_key: log_pth: there is no option of that name; did you mean log_path?"})")};
  summary.event_counts = {{"option_warning", 1}, {"system_start", 1}, {"xid", 1}};
  return summary;
}

// Health, scopes and counters.
SessionData full_session() {
  TestProgram program;
  program.data.summary = full_summary();
  for (int i = 0; i < 3; ++i) {
    const int64_t epoch = program.scope("epoch", i * 4 * kS, (3900 + i * 50) * kMs);
    program.scope("forward_pass", i * 4 * kS, (10 + i * 2) * kMs,
                  {.parent = epoch, .tag = "batch_42"});
    program.scope("backward_pass", i * 4 * kS + 100 * kMs, (20 + i * 2) * kMs, {.parent = epoch});
  }
  program.scope("matmul_warmup", 12 * kS, 3 * kMs);
  program.scope("matmul", 12 * kS + 5 * kMs, 10 * kMs, {.repeat = 10, .warmup = 3});
  program.scope("checkpoint", 12 * kS + 20 * kMs, 30 * kMs);
  program.scope("checkpoint", 12 * kS + 60 * kMs, 500 * kMs, {.ending = analysis::Scopes::kOpen});
  program.counter("tokens", 0, 1000);
  program.counter("tokens", 10 * kS, 2'501'000);
  program.counter("once", 5, 7);
  const auto metric = [&](int64_t device, std::string_view name, int32_t index,
                          std::initializer_list<int64_t> values) {
    int64_t time = 0;
    for (const int64_t value : values) program.metric(name, device, time += kS, value, index);
  };
  metric(-1, "cpu_core_util_permille", 0, {100, 300});
  metric(-1, "cpu_core_util_permille", 1, {0, 200});
  metric(-1, "ram_used_bytes", 0, {34359738368, 36507222016});
  metric(0, "ecc_corrected_volatile_count", 0, {0, 0});
  metric(0, "energy_mj", 0, {1000000, 5200000});
  metric(0, "gpu_util_pct", 0, {0, 97, 98});
  metric(0, "nvlink_rx_bytes", 0, {0, 1048576});
  metric(0, "nvlink_rx_bytes", 1, {0, 1048576});
  metric(0, "power_mw", 0, {120000, 640500});
  metric(0, "throttle_reasons_bits", 0, {0, 4, 4, 1});
  metric(2, "gpu_util_pct", 0, {5});
  return program.finish();
}

analysis::LaunchConfig launch(std::array<int64_t, 3> grid, std::array<int64_t, 3> block,
                              int64_t registers, double occupancy, std::string limit) {
  analysis::LaunchConfig config;
  config.grid = grid;
  config.block = block;
  config.registers = registers;
  config.shared_static = 0;
  config.shared_dynamic = 49152;
  config.occupancy = occupancy;
  config.occupancy_bound = std::move(limit);
  return config;
}

// A training program that waits in every step: kernels, copies and waits, with lines.
SessionData traced_session() {
  TestProgram program;
  SessionSummary& summary = program.data.summary;
  summary = small_session();
  summary.header.engine = "Trace";
  summary.duration_ns = 1 * kS;
  format::Ledger& ledger = summary.ledger.emplace();
  ledger.launches_seen = ledger.kernel_records = 200;
  ledger.launches_missing = ledger.vendor_dropped = ledger.impossible_times = 0;
  ledger.by_device[0] = {200, 200, 0};
  ledger.collector_cpu_ns = 2 * kMs;
  ledger.callback_ns = 400 * kUs;
  ledger.writer.rows = {{"kernel", 200}, {"memcpy", 50}, {"sync", 50}, {"scope", 151}};
  summary.rows = ledger.writer.rows;
  summary.devices = {object(R"({"device":0,"name":"NVIDIA H200","compute_units":132})")};

  const uint32_t gemm =
      program.config("_Z4gemmPfS_S_i", launch({132, 1, 1}, {256, 1, 1}, 168, 0.25, "registers"));
  const uint32_t gemm_last =
      program.config("_Z4gemmPfS_S_i", launch({7, 1, 1}, {256, 1, 1}, 168, 0.25, "registers"));
  const uint32_t relu = program.config("relu", launch({8, 16, 1}, {32, 4, 1}, 24, 1, "warps"));
  const uint32_t launch_line = program.line("/home/me/train.py", 81, "train_step");
  const uint32_t wait_line = program.line("/home/me/train.py", 90, "train_step");
  const int64_t train = program.scope("train", 0, 1 * kS);
  for (int64_t i = 0; i < 50; ++i) {
    const int64_t begin = i * 20 * kMs;
    const int64_t step = program.scope("step", begin, 19 * kMs, {.parent = train});
    const int64_t forward =
        program.scope("forward", begin + kMs, 10 * kMs, {.parent = step, .tag = "fp32"});
    program.scope("data", begin, 500 * kUs, {.parent = step});
    program.copy(1, 4 << 20, begin + 100 * kUs, 400 * kUs, {.stream = 13, .scope = step});
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t start = begin + (2 + k * 3) * kMs;
      const bool is_gemm = k % 2 == 0;
      program.kernel(is_gemm ? (k == 2 && i == 49 ? gemm_last : gemm) : relu, start,
                     is_gemm ? 2 * kMs : 100 * kUs,
                     {.scope = forward,
                      .api_start = start - 30 * kUs,
                      .api_duration = 5 * kUs,
                      .correlation = i * 10 + k + 1,
                      .stack = launch_line});
    }
    program.wait(3, begin + 12 * kMs, 6 * kMs, {.scope = step, .stack = wait_line});
  }
  program.copy(2, 64, 999 * kMs, 4 * kUs);
  SessionData session = program.finish();
  session.code = program.code();
  return session;
}

SessionData crashed_session() {
  TestProgram program;
  SessionSummary& summary = program.data.summary;
  summary = small_session();
  summary.ended = false;
  summary.header.rank = summary.header.world_size = summary.header.local_rank = std::nullopt;
  summary.rows = {{"scope", 10}};
  program.scope("epoch", 0, 11 * kS, {.ending = analysis::Scopes::kOpen});
  summary.markers = {marker("train", "", 0, {1200}), marker("hung collective", "NCCL", 0, {})};
  summary.markers[1].open = 1;
  summary.markers[1].open_ns = 9'500e6;
  summary.problems = {{format::Problem::Kind::TornLine, "scope.log", 12, "the last line is torn"}};
  summary.problem_count = 1;
  return program.finish();
}

// But for paths, which stay in one piece.
size_t widest_line(const std::string& text) {
  size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  log   ")) widest = std::max(widest, text::display_width(line));
  }
  return widest;
}

TEST(TextReportTest, FullSession) { expect_golden(text_of(full_session()), "full.txt"); }

TEST(TextReportTest, FullSessionOnANarrowPage) {
  expect_golden(text_of(full_session(), {.width = 80}), "narrow.txt");
}

TEST(TextReportTest, CrashedSession) { expect_golden(text_of(crashed_session()), "crashed.txt"); }

TEST(TextReportTest, TracedSession) { expect_golden(text_of(traced_session()), "traced.txt"); }

TEST(TextReportTest, TracedSessionOnPagesOfOtherWidths) {
  expect_golden(text_of(traced_session(), {.width = 80}), "traced_80.txt");
  expect_golden(text_of(traced_session(), {.width = 140}), "traced_140.txt");
}

TEST(TextReportTest, TracedSessionAsMarkdown) {
  const TestReport report(traced_session());
  expect_golden(markdown_report(report.view(), {.is_full = true}), "traced.md");
}

TEST(TextReportTest, FitsEveryWidth) {
  const TestReport full(full_session());
  const TestReport traced(traced_session());
  for (size_t width = 60; width <= 160; ++width) {
    EXPECT_LE(widest_line(full.text({.width = width})), width);
    EXPECT_LE(widest_line(traced.text({.width = width})), width);
  }
}

TEST(TextReportTest, KernelsComeInTheOrderThatIsAskedFor) {
  const TestReport report(traced_session());
  const std::string by_total = report.text();
  EXPECT_LT(by_total.find("\n  gemm "), by_total.find("\n  relu "));
  const std::string by_name = report.text({.sort = KernelSort::Name});
  EXPECT_LT(by_name.find("\n  gemm "), by_name.find("\n  relu "));
  TextOptions one;
  one.top = 1;
  one.sort = KernelSort::Name;
  EXPECT_NE(report.text(one).find("\n  gemm "), std::string::npos);
  EXPECT_FALSE(kernel_sort_of("size"));
  EXPECT_EQ(kernel_sort_of("p99"), KernelSort::P99);
}

TEST(TextReportTest, SaysOfHowManyKernelsLatenciesAre) {
  TestProgram program;
  program.data.summary.header.engine = "Trace";
  program.kernel("known", kMs, kUs, {.api_start = kMs - 20 * kUs, .api_duration = 5 * kUs});
  const std::string whole = TestReport(program.finish()).text();
  EXPECT_NE(whole.find("LAUNCH LATENCY"), std::string::npos) << whole;
  EXPECT_EQ(whole.find("that no graph launched"), std::string::npos) << whole;

  TestProgram partly;
  partly.data.summary.header.engine = "Trace";
  partly.kernel("known", kMs, kUs, {.api_start = kMs - 20 * kUs, .api_duration = 5 * kUs});
  partly.kernel("cut", 2 * kMs, kUs,
                {.api_start = 2 * kMs - 20 * kUs, .api_duration = analysis::kNoDuration});
  partly.kernel("before", 3 * kMs, kUs);
  const std::string text = TestReport(partly.finish()).text();
  EXPECT_NE(text.find("For 3 kernels that no graph launched"), std::string::npos) << text;
  EXPECT_NE(text.find("begin of the call      2  20.00 us"), std::string::npos) << text;
  EXPECT_NE(text.find("end of the call        1  15.00 us"), std::string::npos) << text;
}

TEST(TextReportTest, TellsOfKernelsThatOverlap) {
  SessionData session = traced_session();
  EXPECT_EQ(text_of(traced_session()).find("kernels that overlap"), std::string::npos);
  session.summary.ledger->kernels_overlapping = session.summary.ledger->most_overlap_ns = 0;
  EXPECT_EQ(text_of(std::move(session)).find("kernels that overlap"), std::string::npos);
  session = traced_session();
  session.summary.ledger->kernels_overlapping = 5'980;
  session.summary.ledger->most_overlap_ns = 7'584;
  const std::string text = text_of(std::move(session), {.width = 160});
  EXPECT_NE(
      text.find("kernels that overlap      5,980 began before the previous one on their stream "
                "had ended, by at most 7.584 us: because of the vendor's clock"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("LEDGER: complete"), std::string::npos) << text;
}

TEST(TextReportTest, ReasonsAreGivenOnce) {
  const std::string text = text_of(full_session());
  const size_t reason = text.find("is not available");
  ASSERT_NE(reason, std::string::npos) << text;
  EXPECT_EQ(text.find("is not available", reason + 1), std::string::npos) << text;
}

TEST(TextReportTest, OnlyWhatTheOptionsChose) {
  analysis::AnalysisOptions options;
  options.scope = "forward*";
  const std::string text = TestReport(traced_session(), options).text();
  EXPECT_NE(text.find("forward / fp32"), std::string::npos) << text;
  EXPECT_EQ(text.find("MEMORY TRANSFERS"), std::string::npos) << text;
  EXPECT_EQ(text.find("SYNCHRONIZATION"), std::string::npos) << text;
  EXPECT_LT(text.find("only: scope forward*\n"), text.find("SESSION")) << text;
  options = {.device = 0, .scope = "step", .window = analysis::Interval{0, kS}};
  EXPECT_NE(TestReport(traced_session(), options)
                .text()
                .find("only: scope step, GPU 0, from 0 ns to 1.000 s\n"),
            std::string::npos);
  EXPECT_EQ(text_of(traced_session()).find("only: "), std::string::npos);
}

TEST(TextReportTest, WhatWasNotChosenHasItsNameAndMakesNoSteps) {
  TestProgram program;
  program.data.summary = small_session();
  program.data.summary.header.engine = "Trace";
  for (int64_t i = 0; i < 5; ++i) {
    const int64_t begin = i * 100 * kMs;
    const int64_t step = program.scope("step", begin, 90 * kMs);
    const int64_t forward = program.scope("forward", begin, 20 * kMs, {.parent = step});
    program.kernel("first", begin + kMs, 2 * kMs, {.scope = forward});
    program.kernel("second", begin + 5 * kMs, 2 * kMs, {.scope = forward});
    program.kernel("_ZN4nets6updateEPfi", begin + 30 * kMs, 5 * kMs, {.scope = step});
  }
  analysis::AnalysisOptions options;
  options.scope = "forward";
  const std::string text = TestReport(program.finish(), options).text();
  EXPECT_EQ(text.find("_ZN4nets"), std::string::npos) << text;
  EXPECT_NE(text.find("  update "), std::string::npos) << text;
  EXPECT_NE(text.find("iterations: the chosen scopes are only a part of each step"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("each begins with"), std::string::npos) << text;
}

TEST(TextReportTest, OtherConfigurationsAreExplainedWhereTheyAreShown) {
  constexpr std::string_view kFootnote = "+N: N others";
  EXPECT_NE(text_of(traced_session(), {.width = 140}).find(kFootnote), std::string::npos);
  const std::string narrow = text_of(traced_session(), {.width = 60});
  EXPECT_EQ(narrow.find(" +1"), std::string::npos) << narrow;
  EXPECT_EQ(narrow.find(kFootnote), std::string::npos) << narrow;
}

TEST(TextReportTest, TheBriefFormSaysWhatIsLeftOut) {
  const std::string text = brief_report(full_summary(), "! Too much to look at.");
  EXPECT_LT(text.find("! Too much to look at."), text.find("GPU ACTIVITY"));
  EXPECT_NE(text.find("kernel 12"), std::string::npos) << text;
  EXPECT_NE(text.find("  ledger                    complete"), std::string::npos) << text;
}

TEST(TextReportTest, WhatWasNotPossibleStandsOnTheFirstLines) {
  const std::string text = text_of(full_session());
  EXPECT_LT(text.find("! profiling engine: asked for Trace, got Monitor"), text.find("SESSION"));
  EXPECT_EQ(text.find("! health"), std::string::npos);
}

TEST(TextReportTest, NothingIsZeroThatNobodyCounted) {
  const std::string text = text_of(crashed_session(), {.width = 1000});
  const size_t line = text.find("\n  unknown ");
  ASSERT_NE(line, std::string::npos) << text;
  const std::string unknown = text.substr(line, text.find('\n', line + 1) - line);
  for (const char* label :
       {"launches seen", "kernel records", "scope events dropped", "samples missed",
        "dropped by the writer", "raw bytes", "windows deleted"}) {
    EXPECT_NE(unknown.find(label), std::string::npos) << label << unknown;
  }
  EXPECT_NE(text.find("collector CPU time        unknown"), std::string::npos) << text;
}

TEST(TextReportTest, ThatNothingWasLaunchedIsTold) {
  SessionSummary summary = small_session();
  summary.ledger.emplace().launches_seen = 0;
  summary.ledger->kernel_records = 0;
  const std::string text = text_of(summary);
  EXPECT_NE(text.find("\n  launches seen             0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  kernel records            0\n"), std::string::npos) << text;
}

TEST(TextReportTest, SaysHowTheSessionEnded) {
  SessionSummary summary = small_session();
  EXPECT_NE(text_of(summary).find("cleanly"), std::string::npos);
  EXPECT_EQ(text_of(summary).find("at least"), std::string::npos);
  summary.ended = false;
  EXPECT_NE(text_of(summary).find("without closing it"), std::string::npos);
  EXPECT_NE(text_of(summary).find("duration                  at least "), std::string::npos);
  summary.live = true;
  EXPECT_NE(text_of(summary).find("still recording"), std::string::npos);
  EXPECT_NE(text_of(summary).find("duration                  at least "), std::string::npos);
}

TEST(TextReportTest, VerdictFollowsLedgerAndProblems) {
  SessionSummary summary = small_session();
  summary.ledger.emplace();
  EXPECT_NE(text_of(summary).find("LEDGER: complete: no loss is known\n"), std::string::npos);
  summary.ledger->samples_missed = 15;
  EXPECT_NE(
      text_of(summary).find("LEDGER: complete: no loss of GPU work is known; 15 samples missed\n"),
      std::string::npos);
  summary.ledger->scopes_dropped = 1;
  EXPECT_NE(text_of(summary).find("LEDGER: incomplete: see what was dropped"), std::string::npos);
  summary.ledger->scopes_dropped = 0;
  summary.has_faults = true;
  EXPECT_NE(text_of(summary).find("LEDGER: incomplete: parts of the log"), std::string::npos);
  summary.has_faults = false;
  summary.ledger->writer.rows = {{"scope", 2}};
  summary.rows = {{"scope", 1}};
  EXPECT_NE(text_of(summary).find("LEDGER: incomplete: fewer rows"), std::string::npos);
  summary.rows = {{"scope", 2}};
  summary.ledger->kernel_records = 5;
  EXPECT_NE(text_of(summary).find("LEDGER: not proven: no loss is known, but launches were not"),
            std::string::npos);
  summary.ledger->launches_seen = 5;
  EXPECT_NE(text_of(summary).find("LEDGER: complete"), std::string::npos);
}

TEST(TextReportTest, LaunchesAreToldByDevice) {
  SessionSummary summary = small_session();
  format::Ledger& ledger = summary.ledger.emplace();
  ledger.launches_seen = 12;
  ledger.kernel_records = 9;
  ledger.launches_missing = 1;
  ledger.launches_unfinished = 2;
  ledger.by_device[0] = {10, 9, 1};
  ledger.by_device[-1] = {2, std::nullopt, std::nullopt};
  ledger.uncounted = {"device_side_launches"};
  ledger.callback_ns = 1'234'500'000;
  ledger.activity_buffers = 3;
  ledger.activity_bytes = 3 << 20;
  const std::string text = text_of(summary);
  for (const char* expected :
       {"LEDGER: incomplete", "launches without record   1\n", "still running at the end  2\n",
        "  device 0                10 launched, 9 recorded, 1 missing\n",
        "  device unknown          2 launched, unknown recorded, unknown missing\n",
        "cannot be counted         device_side_launches\n", "in callbacks              1.23",
        "10.000% of the session's time\n", "buffers of the vendor     3 (3"}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\n" << text;
  }
  EXPECT_EQ(text.find("outside the capture range"), std::string::npos);
}

TEST(TextReportTest, TopKeepsTheLongestScopesAndTheirParents) {
  TestProgram program;
  const int64_t root = program.scope("root", 0, 1 * kMs);
  for (int i = 1; i <= 100; ++i) {
    program.scope("child_" + std::to_string(i), i, i * kMs, {.parent = root});
  }
  const TestReport report(program.finish());
  const std::string text = report.text({.top = 3});
  EXPECT_NE(text.find("\n  root "), std::string::npos) << text;
  EXPECT_NE(text.find("child_98 "), std::string::npos);
  EXPECT_EQ(text.find("child_97 "), std::string::npos);
  EXPECT_NE(text.find("... 97 more"), std::string::npos) << text;
  EXPECT_NE(report.text({.top = 0}).find("child_1 "), std::string::npos);
}

TEST(TextReportTest, ATerminalIsNeverMadeToObeyALog) {
  SessionData session = traced_session();
  session.summary.markers = {marker("z\x1b", "", 1, {})};
  session.summary.header.app_name = "a\x1b]0;x\x07";
  session.summary.header.command = "b\x1b[2J";
  for (std::string& name : session.tables.names) name += "\x1b[31m\r";
  session.summary.capabilities = {{"d", "e", "f\x1b", "g\x1b", "h\x1b", "i\x1b"}};
  session.summary.events = {object(R"({"time":1,"name":"xid"})").set("text", "f\x1b")};
  session.summary.event_counts = {{"xid\x1b", 2}};
  session.summary.devices[0].set("name", "g\x1b");
  const TestReport report(std::move(session));
  for (const std::string& text :
       {report.text(), report.short_text(), markdown_report(report.view())}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\r'), std::string::npos);
  }
}

TEST(TextReportTest, WhatCannotBeReadIsNotNothing) {
  analysis::SessionSummary summary;
  summary.header.engine = "Trace";
  summary.ended = true;
  summary.ledger.emplace();
  summary.ledger->writer.rows = {{"kernel", 10'611}};
  summary.has_faults = true;
  const std::string text = text_of(std::move(summary));
  EXPECT_EQ(text.find("No GPU did any work"), std::string::npos) << text;
  EXPECT_EQ(text.find("no kernel ran"), std::string::npos) << text;
  EXPECT_NE(text.find("10611 rows of GPU work were written and"), std::string::npos) << text;
}

}  // namespace
}  // namespace gpufl::report
