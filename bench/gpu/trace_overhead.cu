// SPDX-License-Identifier: Apache-2.0
// What Trace costs a program that does nothing but launch an empty kernel. Windows of launches in
// one process alternate between nothing, bare CUPTI (the same kinds of records, callbacks and
// flushing, by a client that throws everything away), Trace and Trace with stacks. Beside each,
// pairs of the same: what the comparison says when there is nothing to see. About 90 seconds.

#include <cmath>
#include <filesystem>
#include <gpufl/gpufl.hpp>

#include "bench/gpu/bare_cupti.hpp"
#include "bench/gpu/cuda_work.cuh"
#include "bench/gpu/launch_window.cuh"
#include "bench/gpu/log_folder.hpp"
#include "bench/gpu/session_figures.hpp"
#include "bench/paired_ratio.hpp"
#include "bench/report.hpp"

namespace {

namespace bench = gpufl::bench;
namespace fs = std::filesystem;

constexpr int kRounds = 20;

using bench::launch_window;

double bare_window() {
  const bench::BareCupti cupti;
  if (!cupti.is_running()) {
    std::fprintf(stderr, "trace_overhead: no CUPTI: %s\n", cupti.error().c_str());
    std::exit(2);
  }
  return launch_window();
}

// Windows under Trace, and whether the ledger of each was exact.
class Traced {
 public:
  double window(bool stacks) {
    const bench::LogFolder logs;
    gpufl::InitOptions options;
    options.app_name = "trace_overhead";
    options.log_path = logs.path().string();
    options.profiling_engine = gpufl::ProfilingEngine::Trace;
    options.enable_stack_trace = stacks;
    if (!gpufl::init(options)) {
      std::fprintf(stderr, "trace_overhead: no session in %s\n", options.log_path.c_str());
      std::exit(2);
    }
    const double cost = launch_window();
    gpufl::shutdown();
    judge(logs.path());
    return cost;
  }
  uint64_t inexact() const { return inexact_; }  // sessions

 private:
  void judge(const fs::path& logs) {
    const auto figures = bench::read_session(logs);
    if (figures && figures->is_exact(bench::kWarmLaunches + bench::kLaunches)) return;
    if (inexact_++ != 0) return;  // the first is enough to be told of
    const std::string why =
        figures ? figures->losses + figures->ledger.to_json().dump() : figures.status().message();
    std::printf("not exact: %s\n", why.c_str());
  }

  uint64_t inexact_ = 0;
};

double mean(double a, double b) { return std::sqrt(a * b); }

// Neighbours are compared, so that the machine has little time to drift between them.
struct Round {
  double off_1, bare_1, trace_1, bare_2, stacks, trace_2, off_2;

  double off() const { return mean(off_1, off_2); }
  double bare() const { return mean(bare_1, bare_2); }
  double trace() const { return mean(trace_1, trace_2); }
};

Round measure_round(Traced& traced, bool backwards) {
  Round round;
  const std::pair<double*, double (*)(Traced&)> windows[] = {
      {&round.off_1, [](Traced&) { return launch_window(); }},
      {&round.bare_1, [](Traced&) { return bare_window(); }},
      {&round.trace_1, [](Traced& all) { return all.window(false); }},
      {&round.bare_2, [](Traced&) { return bare_window(); }},
      {&round.stacks, [](Traced& all) { return all.window(true); }},
      {&round.trace_2, [](Traced& all) { return all.window(false); }},
      {&round.off_2, [](Traced&) { return launch_window(); }},
  };
  constexpr size_t kWindows = std::size(windows);
  for (size_t i = 0; i < kWindows; ++i) {
    const auto& [cost, measure] = windows[backwards ? kWindows - 1 - i : i];
    *cost = measure(traced);
  }
  return round;
}

template <typename Subject, typename Baseline>
std::vector<bench::PairCost> pairs_of(const std::vector<Round>& rounds, Subject subject,
                                      Baseline baseline) {
  std::vector<bench::PairCost> pairs;
  for (const Round& round : rounds) {
    pairs.push_back({std::invoke(baseline, round), std::invoke(subject, round)});
  }
  return pairs;
}

void measure(bench::Report& report) {
  Traced traced;
  std::vector<Round> rounds;
  for (int i = 0; i < kRounds; ++i) rounds.push_back(measure_round(traced, i % 2 == 1));
  const auto median = [&](auto of) {
    return bench::difference_of(pairs_of(rounds, of, [](const Round&) { return 0.0; })).middle;
  };
  const auto ratio = [&](auto subject, auto baseline) {
    return bench::ratio_of(pairs_of(rounds, subject, baseline));
  };
  report.value("launch, off", median(&Round::off), "ns");
  report.value("launch, bare CUPTI", median(&Round::bare), "ns");
  report.value("launch, Trace", median(&Round::trace), "ns");
  report.value("launch, Trace with stacks", median(&Round::stacks), "ns");
  report.ratio("A/A, off", ratio(&Round::off_2, &Round::off_1));
  report.ratio("A/A, bare CUPTI", ratio(&Round::bare_2, &Round::bare_1));
  report.ratio("Trace / bare CUPTI", ratio(&Round::trace_1, &Round::bare), bench::at_most(1.10));
  report.ratio("Trace / off", ratio(&Round::trace, &Round::off));
  report.ratio("bare CUPTI / off", ratio(&Round::bare, &Round::off));
  report.difference("stacks, a launch more",
                    bench::difference_of(pairs_of(rounds, &Round::stacks, &Round::trace_2)), "ns",
                    bench::at_most(2000));
  report.value("sessions whose ledger is not exact", static_cast<double>(traced.inexact()),
               "sessions", bench::at_most(0));
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report("trace_overhead", argc, argv);
  report.note("gpu", bench::require_gpu());
  report.note("launches", int64_t{bench::kLaunches});
  launch_window();  // the context and the clocks warm up
  measure(report);
  return report.finish();
}
