// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/session_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "analysis/figures/gaps.hpp"
#include "analysis/overview/overview.hpp"
#include "analysis/tables/table_columns.hpp"
#include "format/test_session.hpp"

namespace gpufl::analysis {
namespace {

namespace fs = std::filesystem;
using format::Batch;
using format::Dict;
using format::Kind;
using format::LogWriter;
using format::testing::make_writer;
using format::testing::TempDir;
using format::testing::test_options;

void describe(std::ostream& out, const Distribution& values) {
  out << values.count << '/' << values.total << '/' << values.min << '/' << values.max << ' ';
}

// Everything that a summary tells, in a form to compare.
std::string describe(const SessionSummary& summary) {
  std::ostringstream out;
  out.precision(17);
  out << summary.header.to_json().dump() << '\n'
      << summary.dir << ' ' << summary.duration_ns << ' ';
  out << summary.ended << summary.live << summary.has_faults << ' ' << summary.problem_count
      << '\n';
  for (const auto& one : summary.capabilities) {
    out << one.feature << one.asked << one.got << one.reason << one.detail << one.hint << '\n';
  }
  for (const auto& line : summary.devices) out << line.dump() << '\n';
  for (const auto& line : summary.events) out << line.dump() << '\n';
  out << summary.host_facts.dump() << '\n';
  if (summary.ledger) out << summary.ledger->to_json().dump() << '\n';
  for (const auto& [name, count] : summary.event_counts) out << name << ' ' << count << '\n';
  for (const auto& [kind, count] : summary.rows) out << kind << ' ' << count << '\n';
  for (const auto& problem : summary.problems) {
    out << to_string(problem.kind) << problem.file << problem.line << problem.text << '\n';
  }
  const ActivityTotals& activity = summary.activity;
  out << activity.kernels << ' ' << activity.kernel_ns << ' ' << activity.copies << ' '
      << activity.copy_bytes << ' ' << activity.fills << ' ' << activity.wait_ns << '\n';
  for (const auto& work : summary.pending) out << work.function << work.time_ns << '\n';
  for (const auto& marker : summary.markers) {
    out << marker.name << marker.domain << marker.marks << ' ' << marker.open_ns << ' ';
    describe(out, marker.duration_ns);
  }
  for (const auto& counter : summary.counters) {
    out << counter.name << counter.samples << ' ' << counter.last << ' ' << counter.span_ns << '\n';
  }
  for (const auto& series : summary.metrics) {
    out << series.device.value_or(-1) << series.metric << series.index << ' ' << series.last << ' ';
    describe(out, series.values);
  }
  return out.str();
}

template <typename Table>
bool is_sorted(const Table& table) {
  return std::is_sorted(table.start.begin(), table.start.end());
}

uint64_t rows_of(const SessionSummary& summary, const std::string& kind) {
  const auto found = summary.rows.find(kind);
  return found != summary.rows.end() ? found->second : 0;
}

// What holds for any session, however damaged.
void expect_whole(const SessionData& data) {
  const Tables& tables = data.tables;
  EXPECT_EQ(tables.kernels.rows(), rows_of(data.summary, "kernel"));
  EXPECT_EQ(tables.copies.rows(), rows_of(data.summary, "memcpy"));
  EXPECT_EQ(tables.fills.rows(), rows_of(data.summary, "memset"));
  EXPECT_EQ(tables.waits.rows(), rows_of(data.summary, "sync"));
  EXPECT_EQ(tables.allocations.rows(), rows_of(data.summary, "memory"));
  EXPECT_EQ(tables.graphs.rows(), rows_of(data.summary, "graph"));
  EXPECT_EQ(tables.api_calls.rows(), rows_of(data.summary, "api"));
  EXPECT_EQ(tables.markers.rows(), rows_of(data.summary, "marker"));
  EXPECT_EQ(tables.counters.rows(), rows_of(data.summary, "counter"));
  EXPECT_EQ(tables.device_metrics.rows(), rows_of(data.summary, "device_metric"));
  EXPECT_EQ(tables.host_metrics.rows(), rows_of(data.summary, "host_metric"));
  EXPECT_GE(tables.scopes.rows(), rows_of(data.summary, "scope"));
  EXPECT_TRUE(is_sorted(tables.kernels) && is_sorted(tables.copies) && is_sorted(tables.waits));
  EXPECT_TRUE(is_sorted(tables.scopes) && is_sorted(tables.markers));
  for (size_t row = 0; row < tables.kernels.rows(); ++row) {
    ASSERT_LT(tables.kernels.config[row], tables.configs.size());
    ASSERT_LT(tables.kernels.lane[row], tables.lanes.size());
    ASSERT_LT(tables.kernels.caller[row], tables.callers.size());
  }
  for (const LaunchConfig& config : tables.configs) EXPECT_LT(config.name, tables.names.size());
  for (const Caller& caller : tables.callers) {
    EXPECT_TRUE(caller.scope == kNoRow || caller.scope < tables.scopes.rows());
  }
  for (size_t row = 0; row < tables.scopes.rows(); ++row) {
    const uint32_t parent = tables.scopes.parent[row];
    EXPECT_TRUE(parent == kNoRow || parent < row);
    EXPECT_LT(tables.scopes.name[row], tables.names.size());
  }
}

class RecordedSession : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedSession, LoadsAsItIsSummarised) {
  const fs::path dir = fs::path(GPUFL_SOURCE_DIR) / GetParam();
  const auto summary = summarize(dir);
  ASSERT_TRUE(summary.is_ok()) << summary.status().text();
  for (const unsigned threads : {1U, 3U}) {
    const auto data = load(dir, {.threads = threads});
    ASSERT_TRUE(data.is_ok()) << data.status().text();
    EXPECT_EQ(describe(data->summary), describe(*summary));
    expect_whole(*data);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RecordedSession,
                         ::testing::Values("format/golden/complete", "format/golden/crashed",
                                           "format/golden/corrupt", "format/golden/newer_minor",
                                           "examples/sessions/h200_gpt",
                                           "tests/replay/recordings/h200_monitor"));

TEST(SessionData, FailsAsReadersDo) {
  const fs::path golden = fs::path(GPUFL_SOURCE_DIR) / "format/golden";
  EXPECT_EQ(load(golden / "newer_major").status().code(), base::Code::TooNew);
  EXPECT_EQ(load(golden / "nowhere").status().code(), base::Code::NotFound);
  EXPECT_EQ(load_run(golden / "nowhere").status().code(), base::Code::NotFound);
}

Batch kernel_rows(LogWriter& writer, size_t count, int64_t start) {
  namespace column = format::kernel_column;
  const int64_t name = writer.intern(Dict::Name, "gemm");
  const int64_t config = writer.intern(
      Dict::Config, R"({"name":)" + std::to_string(name) +
                        R"(,"grid":[4,2,1],"block":[128,1,1],"registers":40,"occupancy":5000,)" +
                        R"("occupancy_limit":"registers","occupancy_limits":{"warps":16}})");
  Batch rows(Kind::Kernel);
  for (size_t i = column::kStart; i <= column::kScope; ++i) rows.mutable_column(i).resize(count);
  for (size_t row = 0; row < count; ++row) {
    const auto at = static_cast<int64_t>(row);
    const auto put = [&](size_t i, int64_t value) { rows.mutable_column(i)[row] = value; };
    put(column::kStart, start + at * 100);
    put(column::kDuration, 50 + at * 7919 % 40);
    put(column::kConfig, config);
    put(column::kContext, 1);
    put(column::kStream, 7 + at % 2);
    put(column::kCorrelation, at + 1);
    put(column::kApiStart, start + at * 100 - 30);
    put(column::kApiDuration, 10);
    put(column::kThread, 11);
    put(column::kScope, 1 + at / 1000);
  }
  rows.set_rows(count);
  return rows;
}

// Several windows, of a size that decodes on several threads.
constexpr size_t kBatchRows = 5'000;
constexpr int64_t kBatches = 6;
constexpr size_t kKernels = kBatchRows * kBatches;

void write_windows(const fs::path& dir, bool is_closed) {
  format::LogOptions options = test_options(dir);
  options.window_bytes = 150'000;
  const auto writer = make_writer(options);
  for (int64_t i = 0; i < kBatches; ++i) {
    writer->write(kernel_rows(*writer, kBatchRows, 1'000'000 * (i + 1)));
    writer->write(format::testing::scope_rows(*writer, i * 3 + 1, 3, 1000 * i));
    ASSERT_TRUE(writer->flush(1'000'000 * (i + 2)).is_ok());
  }
  if (is_closed) {
    ASSERT_TRUE(writer->close(20'000'000, {}).is_ok());
  } else {
    writer->abandon();
  }
}

// One for all tests that only read it: sealing waits for the disk.
const fs::path& sealed_session() {
  static const TempDir dir;
  static const fs::path session = [] {
    write_windows(dir.path() / "s", true);
    return dir.path() / "s";
  }();
  return session;
}

TEST(SessionData, LiveAndSealedWindowsMakeTheSameTables) {
  const TempDir crashed;
  write_windows(crashed.path() / "s", false);
  const auto first = load(sealed_session(), {.threads = 4});
  const auto second = load(crashed.path() / "s", {.threads = 1});
  ASSERT_TRUE(first.is_ok() && second.is_ok());
  expect_whole(*first);
  expect_whole(*second);
  EXPECT_TRUE(first->summary.ended);
  EXPECT_FALSE(second->summary.ended);
  const Kernels& kernels = first->tables.kernels;
  ASSERT_EQ(kernels.rows(), kKernels);
  EXPECT_EQ(kernels.start, second->tables.kernels.start);
  EXPECT_EQ(kernels.duration.narrow(), second->tables.kernels.duration.narrow());
  EXPECT_EQ(kernels.lane, second->tables.kernels.lane);
  EXPECT_EQ(first->tables.lanes, second->tables.lanes);
  EXPECT_EQ(first->tables.lanes.size(), 2U);
  EXPECT_EQ(first->tables.callers, second->tables.callers);
  EXPECT_TRUE(kernels.queued.empty());
  EXPECT_TRUE(kernels.stack.empty());

  const LaunchConfig& config = first->tables.config(kernels.config[5]);
  EXPECT_EQ(first->tables.kernel_name(5), "gemm");
  EXPECT_EQ(config.blocks(), 8);
  EXPECT_EQ(config.threads(), 128);
  EXPECT_EQ(config.registers, 40);
  EXPECT_FALSE(config.cluster.has_value());
  EXPECT_FALSE(config.shared_static.has_value());
  EXPECT_DOUBLE_EQ(config.occupancy.value(), 0.5);
  EXPECT_EQ(config.occupancy_bound, "registers");
  EXPECT_EQ(config.occupancy_bounds.at("waves"), 16);
}

TEST(SessionData, AKernelTakesAtMost64Bytes) {
  const auto data = load(sealed_session());
  ASSERT_TRUE(data.is_ok());
  EXPECT_LE(memory_of(data->tables), 64 * data->tables.kernels.rows());
}

TEST(SessionData, ADamagedWindowCostsItsOwnRowsOnly) {
  const TempDir dir;
  fs::copy(sealed_session(), dir.path() / "s");
  const fs::path window = dir.path() / "s" / "device.2.log.zst";
  ASSERT_TRUE(fs::exists(window));
  std::string bytes = format::testing::read_text(window);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x5a);
  format::testing::write_text(window, bytes);
  const auto summary = summarize(dir.path() / "s");
  ASSERT_TRUE(summary.is_ok());
  for (const unsigned threads : {1U, 4U}) {
    const auto data = load(dir.path() / "s", {.threads = threads});
    ASSERT_TRUE(data.is_ok());
    expect_whole(*data);
    EXPECT_EQ(describe(data->summary), describe(*summary));
    EXPECT_TRUE(data->summary.has_faults);
    EXPECT_LT(data->tables.kernels.rows(), kKernels);
    EXPECT_GT(data->tables.kernels.rows(), 0U);
    // Its time is not known, and nobody's idle time.
    ASSERT_EQ(data->summary.lost_windows.size(), 1U);
    const LostWindow& lost = data->summary.lost_windows.front();
    EXPECT_EQ(lost.reason, LostWindow::Reason::Damaged);
    EXPECT_EQ(lost.number, 2U);
    const Overview overview = analyze(*data);
    EXPECT_EQ(overview.recorded_ns, 20'000'000 - lost.span.length());
    EXPECT_GT(lost.span.length(), 0);
  }
}

// The session of sealed_session() without one window of its GPU work.
void lose_window(const fs::path& session, const std::string& file, bool forget) {
  fs::copy(sealed_session(), session);
  ASSERT_TRUE(fs::remove(session / file));
  if (!forget) return;
  std::istringstream manifest(format::testing::read_text(session / "manifest.ndjson"));
  std::string kept;
  for (std::string line; std::getline(manifest, line);) {
    const bool is_its = line.find("\"channel\":\"device\",\"window\":1,") != std::string::npos;
    if (!is_its) kept += line + '\n';
  }
  format::testing::write_text(session / "manifest.ndjson", kept);
}

TEST(SessionData, AMissingWindowIsNoIdleTime) {
  const auto whole = load(sealed_session());
  ASSERT_TRUE(whole.is_ok());
  EXPECT_TRUE(whole->summary.lost_windows.empty());
  EXPECT_EQ(analyze(*whole).recorded_ns, 20'000'000);
  for (const bool is_forgotten_by_the_manifest : {false, true}) {
    const TempDir dir;
    lose_window(dir.path() / "s", "device.1.log.zst", is_forgotten_by_the_manifest);
    const auto data = load(dir.path() / "s");
    ASSERT_TRUE(data.is_ok());
    ASSERT_EQ(data->summary.lost_windows.size(), 1U);
    const LostWindow& lost = data->summary.lost_windows.front();
    EXPECT_EQ(lost.reason, LostWindow::Reason::Missing);
    EXPECT_EQ(lost.channel, format::Channel::Device);
    EXPECT_EQ(lost.number, 1U);
    // Whatever of it is known, no row that is left lies in it.
    const Kernels& kernels = data->tables.kernels;
    EXPECT_LT(kernels.rows(), kKernels);
    for (size_t row = 0; row < kernels.rows(); ++row) {
      EXPECT_TRUE(kernels.end(row) <= lost.span.start || kernels.start[row] >= lost.span.end);
    }
    const Overview overview = analyze(*data);
    EXPECT_EQ(overview.recorded_ns, 20'000'000 - lost.span.length());
    EXPECT_GT(lost.span.length(), 0);
    const std::string named = "window 1 of device is missing: 0.";
    EXPECT_TRUE(std::any_of(overview.caveats.begin(), overview.caveats.end(),
                            [&](const std::string& text) { return text.starts_with(named); }));
    AnalysisOptions every_gap;
    every_gap.minimum_gap_ns = 0;
    for (const Gap& gap : idle_gaps(*data, every_gap)) {
      EXPECT_TRUE(gap.span.end <= lost.span.start || gap.span.start >= lost.span.end);
    }
  }
}

TEST(SessionData, ProgressReachesTheEnd) {
  std::vector<std::pair<uint64_t, uint64_t>> told;
  LoadOptions options;
  options.progress = [&](uint64_t done, uint64_t total) {
    told.emplace_back(done, total);
    return true;
  };
  ASSERT_TRUE(load(sealed_session(), options).is_ok());
  ASSERT_FALSE(told.empty());
  EXPECT_GT(told.back().second, 0U);
  EXPECT_EQ(told.back().first, told.back().second);
  for (size_t i = 1; i < told.size(); ++i) EXPECT_GE(told[i].first, told[i - 1].first);
}

TEST(SessionData, StopsWhenItsCallerSaysSo) {
  for (const unsigned threads : {1U, 4U}) {
    size_t calls = 0;
    const auto data = load(sealed_session(), {.threads = threads, .progress = [&](auto, auto) {
                                                ++calls;
                                                return false;
                                              }});
    ASSERT_FALSE(data.is_ok());
    EXPECT_EQ(data.status().code(), base::Code::Cancelled);
    EXPECT_EQ(calls, 1U);
  }
}

void write_rank(const fs::path& dir, const std::string& id, int64_t rank, const std::string& boot,
                int64_t wall_ns, int64_t monotonic_ns) {
  format::SessionHeader header = format::testing::test_header();
  header.session_id = id;
  header.run_id = "run-7";
  header.rank = rank;
  header.boot_id = boot;
  header.start_wall_ns = wall_ns;
  header.start_monotonic_ns = monotonic_ns;
  auto writer = LogWriter::create(test_options(dir / id), header);
  ASSERT_TRUE(writer.is_ok());
  (*writer)->write(kernel_rows(**writer, 10, 1000));
  ASSERT_TRUE((*writer)->close(10'000, {}).is_ok());
}

TEST(RunData, RanksOnOneTimeAxis) {
  const TempDir dir;
  // The wall clock of the first machine was set between its two sessions.
  write_rank(dir.path(), "c", 0, "boot-1", 1'000'000, 500);
  write_rank(dir.path(), "a", 1, "boot-1", 9'000'000, 700);
  write_rank(dir.path(), "b", 2, "boot-2", 999'900, 30);
  fs::create_directories(dir.path() / "d");
  format::testing::write_text(dir.path() / "d" / "device.log", "not a log\n");
  for (const unsigned threads : {1U, 2U, 8U}) {
    uint64_t done = 0;
    uint64_t total = 1;
    const auto run = load_run(dir.path(), {.threads = threads, .progress = [&](auto now, auto all) {
                                             done = now;
                                             total = all;
                                             return true;
                                           }});
    ASSERT_TRUE(run.is_ok()) << run.status().text();
    EXPECT_EQ(run->id, "run-7");
    ASSERT_EQ(run->sessions.size(), 3U);
    EXPECT_EQ(run->sessions[0].summary.header.session_id, "c");
    EXPECT_EQ(run->sessions[1].summary.header.session_id, "a");
    EXPECT_EQ(run->offset_ns, (std::vector<int64_t>{100, 300, 0}));
    EXPECT_EQ(run->sessions[2].tables.kernels.rows(), 10U);
    EXPECT_EQ(run->problems.size(), 1U);
    EXPECT_EQ(done, total);
  }
  const auto one = load_run(dir.path() / "a");
  ASSERT_TRUE(one.is_ok());
  EXPECT_EQ(one->offset_ns, std::vector<int64_t>{0});
}

}  // namespace
}  // namespace gpufl::analysis
