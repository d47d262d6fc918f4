// SPDX-License-Identifier: Apache-2.0
#include "report/text_report.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "report/text_page.hpp"

namespace gpufl::report {
namespace {

using analysis::SessionSummary;
using base::Json;

constexpr double kMs = 1e6;

Json object(std::string_view text) {
  auto parsed = Json::parse(text);
  EXPECT_TRUE(parsed.is_ok()) << text;
  return parsed.is_ok() ? *parsed : Json();
}

analysis::ScopeNode scope(std::string name, std::initializer_list<double> durations_ms) {
  analysis::ScopeNode node;
  node.name = std::move(name);
  for (const double duration : durations_ms) node.duration_ns.add(duration * kMs);
  return node;
}

analysis::MetricSeries metric(std::optional<int64_t> device, std::string name, int64_t index,
                              std::initializer_list<int64_t> values) {
  analysis::MetricSeries series;
  series.device = device;
  series.metric = std::move(name);
  series.index = index;
  for (const int64_t value : values) series.values.add(static_cast<double>(value));
  series.first = *values.begin();
  series.last = *(values.end() - 1);
  return series;
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
  for (const double duration : durations_ms) total.duration_ns.add(duration * kMs);
  return total;
}

SessionSummary full_session() {
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
                 "driver":"570.86.15","sm_count":132,"memory_bytes":150754820096,
                 "compute_major":9,"compute_minor":0})"),
      object(R"({"device":1,"parent":0,"name":"MIG 1g.18gb"})")};

  analysis::ScopeNode epoch = scope("epoch", {4000, 4100, 4050});
  epoch.children.push_back(scope("forward_pass", {10, 12, 14}));
  epoch.children.back().tag = "batch_42";
  epoch.children.push_back(scope("backward_pass", {20, 22, 24}));
  analysis::ScopeNode warmup = scope("matmul_warmup", {3});
  analysis::ScopeNode matmul = scope("matmul", {10});
  matmul.iteration_ns.add(1 * kMs, 10);
  matmul.warmup = 3;
  analysis::ScopeNode save = scope("checkpoint", {30, 40});
  save.open = 1;
  save.open_ns = 500 * kMs;
  save.lost = 2;
  save.cut = 1;
  analysis::ScopeNode unknown;
  unknown.is_unknown = true;
  unknown.children.push_back(scope("orphan", {1}));
  summary.scopes = {epoch, warmup, matmul, save, unknown};

  summary.markers = {marker("iteration", "", 0, {400, 410, 420}),
                     marker("AllReduce", "NCCL", 0, {1.5, 2.5}), marker("checkpoint", "", 3, {}),
                     marker("", "dataloader", 1, {})};
  summary.counters = {
      {"tokens", 50, 1000, 2'501'000, 1'000'000'000, 11'000'000'000, 12'500'000'000},
      {"once", 1, 7, 7, 5, 5, 12'500'000'000}};
  summary.metrics = {
      metric({}, "cpu_core_util_permille", 0, {100, 300}),
      metric({}, "cpu_core_util_permille", 1, {0, 200}),
      metric({}, "ram_used_bytes", 0, {34359738368, 36507222016}),
      metric(0, "ecc_corrected_volatile_count", 0, {0, 0}),
      metric(0, "energy_mj", 0, {1000000, 5200000}),
      metric(0, "gpu_util_pct", 0, {0, 97, 98}),
      metric(0, "nvlink_rx_bytes", 0, {0, 1048576}),
      metric(0, "nvlink_rx_bytes", 1, {0, 1048576}),
      metric(0, "power_mw", 0, {120000, 640500}),
      metric(0, "throttle_reasons_bits", 0, {0, 4, 4, 1}),
      metric(2, "gpu_util_pct", 0, {5}),
  };
  summary.metrics[9].bit_samples.assign(64, 0);
  summary.metrics[9].bit_samples[0] = 1;
  summary.metrics[9].bit_samples[2] = 2;
  summary.events = {object(R"({"time":5000000000,"name":"xid","device":0,"code":79,
                              "text":"GPU has fallen off the bus"})"),
                    object(R"({"time":6000000000,"name":"system_start","text":"phase"})"),
                    object(R"({"time":0,"name":"option_warning","reason":"unknown_key",
                              "source":"gpufl.json","key":"log_pth","line":3,
                              "text":"there is no option of that name"})")};
  summary.event_counts = {{"option_warning", 1}, {"system_start", 1}, {"xid", 1}};
  return summary;
}

SessionSummary crashed_session() {
  SessionSummary summary = small_session();
  summary.ended = false;
  summary.header.rank = summary.header.world_size = summary.header.local_rank = std::nullopt;
  summary.rows = {{"scope", 10}};
  analysis::ScopeNode epoch = scope("epoch", {});
  epoch.open = 1;
  epoch.open_ns = 11'000 * kMs;
  summary.scopes = {epoch};
  summary.markers = {marker("train", "", 0, {1200}), marker("hung collective", "NCCL", 0, {})};
  summary.markers[1].open = 1;
  summary.markers[1].open_ns = 9'500 * kMs;
  summary.problems = {{format::Problem::Kind::TornLine, "scope.log", 12, "the last line is torn"}};
  summary.problem_count = 1;
  return summary;
}

// The expected text lies in golden/; GPUFL_UPDATE_GOLDEN=1 writes it anew, to be looked at in git.
void expect_golden(const std::string& text, const std::string& name) {
  const std::string path = std::string(GPUFL_GOLDEN_DIR) + "/" + name;
  if (std::getenv("GPUFL_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << path;
}

size_t widest_line(const std::string& text) {
  size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

TEST(TextReportTest, FullSession) { expect_golden(text_report(full_session()), "full.txt"); }

TEST(TextReportTest, FullSessionOnANarrowPage) {
  expect_golden(text_report(full_session(), {80, 30, false}), "narrow.txt");
}

TEST(TextReportTest, CrashedSession) {
  expect_golden(text_report(crashed_session()), "crashed.txt");
}

TEST(TextReportTest, FitsEveryWidth) {
  for (size_t width = 60; width <= 160; ++width) {
    EXPECT_LE(widest_line(text_report(full_session(), {width, 30, false})), width);
  }
}

TEST(TextReportTest, WhatWasNotPossibleStandsOnTheFirstLines) {
  const std::string text = text_report(full_session());
  EXPECT_LT(text.find("! profiling_engine: asked Trace, got Monitor"), text.find("SESSION"));
  EXPECT_EQ(text.find("! health"), std::string::npos);
}

TEST(TextReportTest, NothingIsZeroThatNobodyCounted) {
  const std::string text = text_report(crashed_session());
  for (const char* label :
       {"launches seen", "kernel records", "scope events dropped", "samples missed",
        "dropped by the writer", "raw bytes", "windows deleted", "collector CPU time"}) {
    const size_t line = text.find(label);
    ASSERT_NE(line, std::string::npos) << label;
    const std::string rest = text.substr(line, text.find('\n', line) - line);
    EXPECT_NE(rest.find("unknown"), std::string::npos) << rest;
  }
}

TEST(TextReportTest, SaysHowTheSessionEnded) {
  SessionSummary summary = small_session();
  EXPECT_NE(text_report(summary).find("cleanly"), std::string::npos);
  summary.ended = false;
  EXPECT_NE(text_report(summary).find("killed or crashed"), std::string::npos);
  summary.live = true;
  EXPECT_NE(text_report(summary).find("still recording"), std::string::npos);
}

TEST(TextReportTest, VerdictFollowsLedgerAndProblems) {
  SessionSummary summary = small_session();
  summary.ledger.emplace();
  EXPECT_NE(text_report(summary).find("LEDGER: complete"), std::string::npos);
  summary.ledger->scopes_dropped = 1;
  EXPECT_NE(text_report(summary).find("LEDGER: incomplete: see what was dropped"),
            std::string::npos);
  summary.ledger->scopes_dropped = 0;
  summary.has_faults = true;
  EXPECT_NE(text_report(summary).find("LEDGER: incomplete: parts of the log"), std::string::npos);
  summary.has_faults = false;
  summary.ledger->writer.rows = {{"scope", 2}};
  summary.rows = {{"scope", 1}};
  EXPECT_NE(text_report(summary).find("LEDGER: incomplete: fewer rows"), std::string::npos);
  summary.rows = {{"scope", 2}};
  summary.ledger->kernel_records = 5;
  EXPECT_NE(text_report(summary).find("LEDGER: not proven: no loss is known, but launches not"),
            std::string::npos);
  summary.ledger->launches_seen = 5;
  EXPECT_NE(text_report(summary).find("LEDGER: complete"), std::string::npos);
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
  const std::string text = text_report(summary);
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
  SessionSummary summary = small_session();
  analysis::ScopeNode root = scope("root", {1});
  for (int i = 0; i < 100; ++i) {
    root.children.push_back(scope("child_" + std::to_string(i), {static_cast<double>(i)}));
  }
  summary.scopes = {root};
  const std::string text = text_report(summary, {100, 3, false});
  EXPECT_NE(text.find("\n  root "), std::string::npos);
  EXPECT_NE(text.find("child_97 "), std::string::npos);
  EXPECT_EQ(text.find("child_96 "), std::string::npos);
  EXPECT_NE(text.find("... 97 more"), std::string::npos);
  const std::string all = text_report(summary, {100, 0, false});
  EXPECT_NE(all.find("child_0 "), std::string::npos);
}

TEST(TextReportTest, ATerminalIsNeverMadeToObeyALog) {
  SessionSummary summary = full_session();
  summary.header.app_name = "a\x1b]0;x\x07";
  summary.header.command = "b\x1b[2J";
  summary.scopes[0].name = "c\x1b[31m";
  summary.counters[0].name = "d\r";
  summary.capabilities[0].detail = "e\x1b";
  summary.events[0].set("text", "f\x1b");
  summary.devices[0].set("name", "g\x1b");
  summary.metrics[0].metric = "h\x1b";
  const std::string text = text_report(summary);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

}  // namespace
}  // namespace gpufl::report
