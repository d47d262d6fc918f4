// SPDX-License-Identifier: Apache-2.0
// Whether this build's Trace costs a launch more than another build's. Two processes that do
// nothing but launch an empty kernel, one recorded by each build's injected library, take turns,
// window by window; a third, of this build too, shows what the comparison says when there is
// nothing to see.
//
//   GPUFL_OTHER_BUILD=FOLDER trace_versions [--json FILE]
//
// FOLDER: a portable build with lib/libgpufl_inject.so. About five minutes.
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/gpu/launch_window.cuh"
#include "bench/gpu/log_folder.hpp"
#include "bench/gpu/session_figures.hpp"
#include "bench/gpu/worker.hpp"
#include "bench/paired_ratio.hpp"
#include "bench/report.hpp"

namespace {

namespace bench = gpufl::bench;
namespace fs = std::filesystem;

constexpr int kPairs = 160;
constexpr const char* kWindows = "--windows";  // a process that measures

// A process recorded by one build, with its session.
class Recorded {
 public:
  explicit Recorded(const fs::path& build)
      : worker_({kWindows}, {{"CUDA_INJECTION64_PATH", (build / "lib/libgpufl_inject.so").string()},
                             {"GPUFL_LOG_PATH", logs_.path().string()},
                             {"GPUFL_PROFILING_ENGINE", "Trace"}}) {
    worker_.wait_until_ready();
  }
  double window() {
    launches_ += bench::kWarmLaunches + bench::kLaunches;
    return worker_.ask();
  }
  // Ends it. Whether its ledger is exact: one that records nothing would look quick.
  bool end() {
    if (worker_.end() != 0) return false;
    const auto figures = bench::read_session(logs_.path());
    return figures && figures->is_exact(launches_);
  }

 private:
  bench::LogFolder logs_;
  bench::Worker worker_;
  uint64_t launches_ = 0;
};

void measure(const fs::path& other, const fs::path& own, bench::Report& report) {
  enum { kOther, kOwn, kAgain, kCount };
  const std::array<std::unique_ptr<Recorded>, kCount> processes = {
      std::make_unique<Recorded>(other), std::make_unique<Recorded>(own),
      std::make_unique<Recorded>(own)};
  std::vector<bench::PairCost> versions, same;
  for (int pair = -2; pair < kPairs; ++pair) {  // two to warm up
    std::array<double, kCount> cost{};
    for (int i = 0; i < kCount; ++i) {
      const int at = pair % 2 == 0 ? i : kCount - 1 - i;
      cost[at] = processes[at]->window();
    }
    if (pair < 0) continue;
    versions.push_back({cost[kOther], cost[kOwn]});
    same.push_back({cost[kAgain], cost[kOwn]});
  }
  double inexact = 0;
  for (const auto& process : processes) inexact += process->end() ? 0 : 1;
  report.ratio("A/A, this build", bench::ratio_of(same));
  report.ratio("a launch under Trace, this build / the other", bench::ratio_of(versions),
               bench::at_most(1.03));
  report.value("sessions whose ledger is not exact", inexact, "sessions", bench::at_most(0));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == kWindows) {
    bench::answer_questions(bench::launch_window);
    return 0;
  }
  bench::Report report("trace_versions", argc, argv);
  const char* other = getenv("GPUFL_OTHER_BUILD");
  if (other == nullptr || !fs::exists(fs::path(other) / "lib/libgpufl_inject.so")) {
    std::fprintf(stderr,
                 "trace_versions: GPUFL_OTHER_BUILD names no folder with a portable build\n");
    return 2;
  }
  const fs::path own = fs::canonical("/proc/self/exe").parent_path().parent_path();
  report.note("gpu", bench::require_gpu());
  report.note("other_build", other);
  measure(other, own, report);
  return report.finish();
}
