// SPDX-License-Identifier: Apache-2.0
// What a kernel costs in the log, in bytes and in time, on one core.
//
//   log_bench [--rows N] [--json FILE]
//
// Timed: rows, held in memory as columns (start, duration, configuration, device, context, stream,
// correlation, API start and duration, thread, scope), to lines in live files with the dictionaries
// that they refer to; those files sealed, fsync included; the sealed files read back with every
// check. All on one thread, pinned to one core. Not timed: drawing the rows, and comparing what was
// read with what was written. The best of several rounds counts. The bars are on the time that the
// core worked, kernel included, so that a busy machine or a slow disk does not decide; wall time,
// which waits for fsync, is printed beside it.
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/log/kernel_rows.hpp"
#include "bench/log/log_run.hpp"
#include "bench/one_core.hpp"
#include "bench/report.hpp"

namespace {

namespace fs = std::filesystem;
using gpufl::bench::at_least;
using gpufl::bench::at_most;
using gpufl::bench::Bar;
using gpufl::bench::KernelRows;
using gpufl::bench::LogRun;
using gpufl::bench::Report;
using gpufl::bench::StageTime;
using gpufl::format::Batch;

constexpr int kRounds = 5;

// Takes `--rows N` out of the arguments.
size_t take_rows(int& argc, char** argv) {
  size_t rows = 5'000'000;
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

std::vector<Batch> draw(KernelRows& source, size_t rows, size_t per_batch) {
  std::vector<Batch> batches;
  for (; rows != 0; rows -= std::min(rows, per_batch)) {
    batches.push_back(source.draw(std::min(rows, per_batch)));
  }
  return batches;
}

double per_row(uint64_t bytes, const LogRun& run) {
  return static_cast<double>(bytes) / static_cast<double>(run.rows);
}
double millions(const LogRun& run, double seconds) {
  return static_cast<double>(run.rows) / seconds * 1e-6;
}

int measure(size_t rows, const fs::path& folder, Report& report) {
  auto source = KernelRows::load(GPUFL_BENCH_TRACE);
  if (!source) {
    std::fprintf(stderr, "%s\n", source.status().text().c_str());
    return 2;
  }
  const auto run = [&](const std::vector<Batch>& batches, const std::vector<std::string>& lines,
                       int rounds, LogRun& best) {
    for (int round = 0; round < rounds; ++round) {
      const auto result = gpufl::bench::run_log(folder, lines, batches);
      if (!result) {
        std::fprintf(stderr, "%s\n", result.status().text().c_str());
        return false;
      }
      if (round == 0) best = *result;
      for (const auto stage : {&LogRun::write, &LogRun::seal, &LogRun::read}) {
        auto& kept = best.*stage;
        kept.wall_s = std::min(kept.wall_s, ((*result).*stage).wall_s);
        kept.cpu_s = std::min(kept.cpu_s, ((*result).*stage).cpu_s);
      }
    }
    return true;
  };
  const auto& dictionary = source->dictionary_lines();
  LogRun large;
  LogRun small;
  LogRun recorded;
  if (!run(draw(*source, rows, 16'384), dictionary, kRounds, large) ||
      !run(draw(*source, std::max<size_t>(rows / 5, 1), 500), dictionary, kRounds, small) ||
      !run({source->recorded()}, {}, 1, recorded)) {
    return 2;
  }
  report.note("rows", static_cast<int64_t>(large.rows));
  report.note("rounds", kRounds);
  report.value("raw", per_row(large.raw_bytes, large), "B a kernel", at_most(24));
  report.value("sealed", per_row(large.sealed_bytes, large), "B a kernel", at_most(6.6));
  const auto speed = [&](const std::string& figure, const LogRun& of, double StageTime::* clock,
                         std::optional<Bar> write_bar, std::optional<Bar> read_bar) {
    report.value("write and seal, " + figure, millions(of, of.write.*clock + of.seal.*clock),
                 "M rows/s", write_bar);
    report.value("unseal and read, " + figure, millions(of, of.read.*clock), "M rows/s", read_bar);
  };
  speed("CPU time of one core", large, &StageTime::cpu_s, at_least(10), at_least(15));
  speed("wall time", large, &StageTime::wall_s, {}, {});
  report.value("write alone, CPU time of one core", millions(large, large.write.cpu_s), "M rows/s");
  report.value("seal alone, CPU time of one core", millions(large, large.seal.cpu_s), "M rows/s");
  report.value("live batches of 500, raw", per_row(small.raw_bytes, small), "B a kernel");
  report.value("live batches of 500, gathered and sealed", per_row(small.sealed_bytes, small),
               "B a kernel", at_most(6.6));
  report.value("live batches of 500, write and seal, CPU time of one core",
               millions(small, small.write.cpu_s + small.seal.cpu_s), "M rows/s", at_least(3));
  report.value("live batches of 500, write and seal, wall time",
               millions(small, small.write.wall_s + small.seal.wall_s), "M rows/s");
  report.value("the recorded trace itself, raw", per_row(recorded.raw_bytes, recorded),
               "B a kernel");
  report.value("the recorded trace itself, sealed", per_row(recorded.sealed_bytes, recorded),
               "B a kernel");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const size_t rows = take_rows(argc, argv);
  Report report("log_bench", argc, argv);
  gpufl::bench::pin_to_one_core();
  std::string folder = (fs::temp_directory_path() / "gpufl_log_bench_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 2;
  }
  const int outcome = measure(rows, folder, report);
  fs::remove_all(folder);
  return outcome != 0 ? outcome : report.finish();
}
