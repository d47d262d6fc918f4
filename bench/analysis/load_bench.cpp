// SPDX-License-Identifier: Apache-2.0
// From a sealed log to figures, on one core.
//
//   load_bench [--rows N] [--json FILE]
//
// Timed, in a process of its own that is pinned to one core: a session of a training run loaded
// into tables (every file unsealed, decoded and checked, rows linked to scopes, the summary made);
// then analyze() as far as a summary goes: of each kernel's name count, total, mean, median, p90,
// p99, min and max, of each device busy time, concurrency and gaps. The best of several rounds
// counts, on the time that the core worked; peak memory is the process's, everything included. Not
// timed: writing the session.
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "analysis/overview/overview.hpp"
#include "analysis/session/session_data.hpp"
#include "analysis/tables/table_columns.hpp"
#include "base/clock.hpp"
#include "bench/analysis/kernel_session.hpp"
#include "bench/one_core.hpp"
#include "bench/report.hpp"

namespace {

namespace fs = std::filesystem;
using namespace gpufl;

constexpr size_t kRows = 10'000'000;
constexpr size_t kSmallRows = 100'000;
constexpr int kRounds = 5;

// What one process found, told over a pipe.
struct Outcome {
  double load_cpu_s = 0, figures_cpu_s = 0, wall_s = 0;
  double peak_bytes = 0, table_bytes = 0;
  uint64_t kernels = 0;
  int64_t busy_ns = 0;
};

Outcome load(const char* folder) {
  Outcome outcome;
  const int64_t wall_ns = base::monotonic_ns();
  const double begin_s = bench::cpu_s();
  const auto session = analysis::load(folder, {.threads = 1});
  if (!session) {
    std::fprintf(stderr, "%s\n", session.status().text().c_str());
    return outcome;
  }
  outcome.load_cpu_s = bench::cpu_s() - begin_s;
  analysis::AnalysisOptions options;
  options.depth = analysis::Depth::Summary;
  const analysis::Overview overview = analysis::analyze(*session, options);
  outcome.kernels = overview.kernels.is_known() ? overview.kernels->count : 0;
  for (const auto& device : overview.devices) outcome.busy_ns += device.busy_ns;
  outcome.figures_cpu_s = bench::cpu_s() - begin_s - outcome.load_cpu_s;
  outcome.wall_s = static_cast<double>(base::monotonic_ns() - wall_ns) * 1e-9;
  outcome.table_bytes = static_cast<double>(memory_of(session->tables));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  outcome.peak_bytes = static_cast<double>(usage.ru_maxrss) * 1024;
  return outcome;
}

// A fresh program, so that its peak is its own.
bool run_apart(const fs::path& folder, Outcome& outcome) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl("/proc/self/exe", "load_bench", "--load", folder.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  const bool is_whole = read(ends[0], &outcome, sizeof outcome) == sizeof outcome;
  close(ends[0]);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0 && is_whole;
}

bool measure(const fs::path& folder, size_t rows, Outcome& best) {
  if (const auto status = bench::write_kernel_session(folder, rows); !status) {
    std::fprintf(stderr, "%s\n", status.text().c_str());
    return false;
  }
  for (int round = 0; round < kRounds; ++round) {
    Outcome outcome;
    if (!run_apart(folder, outcome) || outcome.kernels != rows || outcome.busy_ns <= 0) {
      std::fprintf(stderr, "loading failed\n");
      return false;
    }
    if (round == 0) best = outcome;
    best.load_cpu_s = std::min(best.load_cpu_s, outcome.load_cpu_s);
    best.figures_cpu_s = std::min(best.figures_cpu_s, outcome.figures_cpu_s);
    best.wall_s = std::min(best.wall_s, outcome.wall_s);
    best.peak_bytes = std::max(best.peak_bytes, outcome.peak_bytes);
  }
  return true;
}

// Takes `--rows N` out of the arguments.
size_t take_rows(int& argc, char** argv) {
  size_t rows = kRows;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string_view value = argv[i + 1];
    if (std::string_view(argv[i]) != "--rows") continue;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), rows);
    if (error != std::errc() || end != value.data() + value.size() || rows == 0) continue;
    std::copy(argv + i + 2, argv + argc, argv + i);
    argc -= 2;
    break;
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--load") {
    bench::pin_to_one_core();
    const Outcome outcome = load(argv[2]);
    return write(STDOUT_FILENO, &outcome, sizeof outcome) == sizeof outcome ? 0 : 1;
  }
  const size_t rows = take_rows(argc, argv);
  bench::Report report("load_bench", argc, argv);
  std::string folder = (fs::temp_directory_path() / "gpufl_load_bench_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 2;
  }
  Outcome large;
  Outcome small;
  const bool is_done = measure(fs::path(folder) / "large", rows, large) &&
                       measure(fs::path(folder) / "small", kSmallRows, small);
  fs::remove_all(folder);
  if (!is_done) return 2;
  report.note("rows", static_cast<int64_t>(rows));
  report.note("rounds", kRounds);
  const bool has_bars = rows == kRows;
  const auto bar = [&](double value) {
    return has_bars ? std::optional(bench::at_most(value)) : std::nullopt;
  };
  report.value("load and summarise, CPU time of one core", large.load_cpu_s + large.figures_cpu_s,
               "s", bar(1.5));
  report.value("of it the figures by name and device", large.figures_cpu_s, "s");
  report.value("load and summarise, wall time", large.wall_s, "s");
  report.value("peak memory", large.peak_bytes * 1e-6, "MB", bar(700));
  report.value("tables", large.table_bytes / static_cast<double>(rows), "B a kernel",
               bench::at_most(64));
  report.value("100,000 kernels, load and summarise, wall time", small.wall_s, "s");
  return report.finish();
}
