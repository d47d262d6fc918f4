// SPDX-License-Identifier: Apache-2.0
// What Trace holds in memory while ten million kernels go by, above what bare CUPTI holds for the
// same ones: two processes do the same work at the same time, and each tells its resident memory at
// every million. Nine in ten kernels come from graphs, to be quick. About 40 seconds.

#include <cstdint>
#include <fstream>
#include <gpufl/gpufl.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/gpu/bare_cupti.hpp"
#include "bench/gpu/cuda_work.cuh"
#include "bench/gpu/log_folder.hpp"
#include "bench/gpu/session_figures.hpp"
#include "bench/gpu/worker.hpp"
#include "bench/report.hpp"

namespace {

namespace bench = gpufl::bench;

constexpr int kMillions = 10;
constexpr int kChain = 1'000;
constexpr int kChains = 900;  // a million: so many graphs, and the rest launched one by one
constexpr int kSingles = 1'000'000 - kChain * kChains;
constexpr int kLaunchesPerSync = 1'000;
constexpr double kFlatMb = 4;  // what may come and go without being growth

// A line of /proc/self/<file>, in MB; it is told in kB of 1,024 bytes.
double memory_mb(const char* file, const std::string& name) {
  std::ifstream lines(std::string("/proc/self/") + file);
  for (std::string word; lines >> word;) {
    double kib = 0;
    if (word == name && lines >> kib) return kib * 1024 / 1e6;
  }
  return 0;
}
double resident_mb() { return memory_mb("smaps_rollup", "Rss:"); }
double proportional_mb() { return memory_mb("smaps_rollup", "Pss:"); }
double peak_mb() { return memory_mb("status", "VmHWM:"); }

void one_million(bench::KernelChain& chain) {
  for (int i = 0; i < kChains; ++i) {
    chain.launch();
    if (i % 8 == 7) chain.wait();
  }
  chain.wait();
  for (int i = 0; i < kSingles; ++i) {
    bench::empty_kernel<<<1, 1>>>();
    if (i % kLaunchesPerSync == 0) GPUFL_CUDA(cudaDeviceSynchronize());
  }
  GPUFL_CUDA(cudaDeviceSynchronize());
}

// Answers in turn with resident and proportional memory, after a million kernels each, and at last
// with the peak.
int work(const std::string& mode) {
  bench::require_gpu();
  const bench::LogFolder logs;
  std::unique_ptr<bench::BareCupti> bare;
  bool is_running = false;
  std::string why;
  if (mode == "trace") {
    gpufl::InitOptions options;
    options.app_name = "trace_memory";
    options.log_path = logs.path().string();
    options.profiling_engine = gpufl::ProfilingEngine::Trace;
    is_running = gpufl::init(options);
  } else {
    bare = std::make_unique<bench::BareCupti>();
    is_running = bare->is_running();
    why = bare->error();
  }
  if (!is_running) {
    std::fprintf(stderr, "trace_memory: nothing records: %s\n", why.c_str());
    return 2;
  }
  bench::KernelChain chain(kChain);
  int question = 0;
  bench::answer_questions([&] {
    const int now = question++;
    if (now == 2 * kMillions) return peak_mb();
    if (now % 2 == 1) return proportional_mb();
    one_million(chain);
    return resident_mb();
  });
  bare.reset();
  gpufl::shutdown();
  if (mode != "trace") return 0;
  const auto figures = bench::read_session(logs.path());
  const bool exact = figures && figures->is_exact(uint64_t{kMillions} * 1'000'000);
  if (!exact) {
    std::fprintf(stderr, "trace_memory: not exact: %s\n",
                 figures ? (figures->losses + figures->ledger.to_json().dump()).c_str()
                         : figures.status().message().c_str());
  }
  return exact ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--worker") return work(argv[2]);
  bench::Report report("trace_memory", argc, argv);
  report.note("gpu", bench::require_gpu());

  bench::Worker bare({"--worker", "bare"}, {}), trace({"--worker", "trace"}, {});
  bare.wait_until_ready();
  trace.wait_until_ready();
  std::vector<double> resident, proportional;
  double bare_mb = 0;
  for (int million = 0; million < kMillions; ++million) {
    for (std::vector<double>* excess : {&resident, &proportional}) {
      bare.put_question();
      trace.put_question();
      bare_mb = bare.answer();
      excess->push_back(trace.answer() - bare_mb);
    }
    std::printf("after %d million: %.1f MB above bare CUPTI's\n", million + 1, resident.back());
  }
  report.value("bare CUPTI, proportional", bare_mb, "MB");
  report.value("Trace above it, after 1 million", resident.front(), "MB");
  report.value("Trace above it, after 10 million", resident.back(), "MB");
  report.value("Trace above it, after 10 million (proportional)", proportional.back(), "MB");
  report.value("most above it, at any million", *std::max_element(resident.begin(), resident.end()),
               "MB", bench::at_most(48));
  const double bare_peak = bare.ask();
  report.value("peak above its peak", trace.ask() - bare_peak, "MB", bench::at_most(48));
  report.value("growth from 1 to 10 million", resident.back() - resident.front(), "MB",
               bench::at_most(kFlatMb));
  report.value("sessions whose ledger is not exact", trace.end() == 0 ? 0 : 1, "sessions",
               bench::at_most(0));
  return report.finish();
}
