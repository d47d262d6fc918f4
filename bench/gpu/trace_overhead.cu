// SPDX-License-Identifier: Apache-2.0
// What Trace costs a program that does nothing but launch: 100,000 launches of an empty kernel in
// one window, in one process, alternating with windows of bare CUPTI, that is the same kinds of
// records, the same callback and the same flushing by a client that throws everything away, and
// with windows of nothing. Beside them, pairs of two windows of bare CUPTI and of nothing: what the
// same comparison says when there is nothing to see.

#include <cuda_runtime.h>
#include <gpufl/gpufl.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/gpu/bare_cupti.hpp"
#include "bench/paired_ratio.hpp"
#include "bench/report.hpp"

namespace {

constexpr int kLaunches = 100'000;
constexpr int kPairs = 20;
// Bounds the queue in front of the GPU.
constexpr int kLaunchesPerSync = 1000;

__global__ void empty() {}

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "trace_overhead: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(2);
}

// Nanoseconds a launch, over one window.
double launch_window() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < kLaunches; ++i) {
    empty<<<1, 1>>>();
    if (i % kLaunchesPerSync == 0) require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kLaunches;
}

double bare_window() {
  gpufl::bench::BareCupti cupti;
  if (!cupti.is_running()) {
    std::fprintf(stderr, "trace_overhead: no CUPTI: %s\n", cupti.error().c_str());
    std::exit(2);
  }
  return launch_window();
}

double trace_window(const gpufl::InitOptions& options) {
  if (!gpufl::init(options)) {
    std::fprintf(stderr, "trace_overhead: no session in %s\n", options.log_path.c_str());
    std::exit(2);
  }
  const double cost = launch_window();
  gpufl::shutdown();
  return cost;
}

}  // namespace

int main(int argc, char** argv) {
  namespace bench = gpufl::bench;
  bench::Report report("trace_overhead", argc, argv);
  cudaDeviceProp device{};
  require(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  report.note("gpu", device.name);
  report.note("launches", int64_t{kLaunches});

  const std::filesystem::path logs =
      std::filesystem::temp_directory_path() / "gpufl-trace-overhead";
  std::filesystem::remove_all(logs);
  gpufl::InitOptions options;
  options.app_name = "trace_overhead";
  options.log_path = logs.string();
  options.profiling_engine = gpufl::ProfilingEngine::Trace;

  const auto off = [] { return launch_window(); };
  const auto bare = [] { return bare_window(); };
  const auto trace = [&] { return trace_window(options); };
  off();  // the context and the clocks warm up
  report.value("launch, off", off(), "ns");
  report.value("launch, bare CUPTI", bare(), "ns");
  report.value("launch, Trace", trace(), "ns");
  report.ratio("A/A, off", bench::paired_ratio(kPairs, off, off));
  report.ratio("A/A, bare CUPTI", bench::paired_ratio(kPairs, bare, bare));
  report.ratio("Trace / bare CUPTI", bench::paired_ratio(kPairs, bare, trace),
               bench::at_most(1.10));
  report.ratio("Trace / off", bench::paired_ratio(kPairs, off, trace));
  report.ratio("bare CUPTI / off", bench::paired_ratio(kPairs, off, bare));
  report.ratio("after Trace / before",
               bench::paired_ratio(kPairs, off,
                                   [&] {
                                     trace();
                                     return launch_window();
                                   }),
               bench::at_most(1.02));
  std::filesystem::remove_all(logs);
  return report.finish();
}
