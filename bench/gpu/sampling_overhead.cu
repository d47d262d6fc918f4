// SPDX-License-Identifier: Apache-2.0
// What Monitor sampling every 50 ms costs a program that does nothing but launch: one process
// alternates windows with and without it. Two ways of switching it: systemStart/systemStop inside
// one session, and a session of its own (init/shutdown) around each window. Beside them, pairs of
// two windows without: what the same comparison says when there is nothing to see.

#include <cuda_runtime.h>
#include <gpufl/gpufl.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/paired_ratio.hpp"
#include "bench/report.hpp"

namespace {

constexpr int kSampleRateMs = 50;
// Five samples, and one of the slow ones, which come once a second otherwise: four times too often.
// Short, because what a launch costs drifts by several percent within seconds: 30 pairs of one
// second each could not tell 1% from nothing.
constexpr std::chrono::milliseconds kWindow{250};
constexpr int kPairs = 160;
constexpr int kIdlePairs = 80;
// Launches between two looks at the clock; also bounds the queue in front of the GPU.
constexpr int kLaunchesPerSync = 256;

__global__ void empty() {}

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "sampling_overhead: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(2);
}

// Nanoseconds a launch, over one window.
double launch_window() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Clock::time_point now = start;
  long launches = 0;
  while (now - start < kWindow) {
    for (int i = 0; i < kLaunchesPerSync; ++i) empty<<<1, 1>>>();
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    launches += kLaunchesPerSync;
    now = Clock::now();
  }
  return std::chrono::duration<double, std::nano>(now - start).count() /
         static_cast<double>(launches);
}

gpufl::InitOptions monitor_options(const std::filesystem::path& logs) {
  gpufl::InitOptions options;
  options.app_name = "sampling_overhead";
  options.log_path = logs.string();
  options.system_sample_rate_ms = kSampleRateMs;
  return options;
}

void require_session(const gpufl::InitOptions& options) {
  if (gpufl::init(options)) return;
  std::fprintf(stderr, "sampling_overhead: no session could be started in %s\n",
               options.log_path.c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  namespace bench = gpufl::bench;
  bench::Report report("sampling_overhead", argc, argv);
  cudaDeviceProp device{};
  require(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  report.note("gpu", device.name);
  report.note("sample_rate_ms", kSampleRateMs);
  report.note("window_ms", static_cast<int64_t>(kWindow.count()));

  const std::filesystem::path logs =
      std::filesystem::temp_directory_path() / "gpufl-sampling-overhead";
  std::filesystem::remove_all(logs);
  const gpufl::InitOptions on_request = monitor_options(logs);
  gpufl::InitOptions continuous = on_request;
  continuous.continuous_system_sampling = true;

  launch_window();  // the context and the clocks warm up
  report.value("launch without sampling", launch_window(), "ns");

  require_session(on_request);
  const auto off = [] { return launch_window(); };
  report.ratio("A/A, idle session", bench::paired_ratio(kIdlePairs, off, off));
  report.ratio("systemStart / systemStop",
               bench::paired_ratio(kPairs, off,
                                   [] {
                                     gpufl::systemStart("window");
                                     const double cost = launch_window();
                                     gpufl::systemStop("window");
                                     return cost;
                                   }),
               bench::at_most(1.01));
  gpufl::shutdown();

  report.ratio("A/A, no session", bench::paired_ratio(kIdlePairs, off, off));
  report.ratio("continuous session / none",
               bench::paired_ratio(kPairs, off,
                                   [&] {
                                     require_session(continuous);
                                     const double cost = launch_window();
                                     gpufl::shutdown();
                                     return cost;
                                   }),
               bench::at_most(1.01));
  std::filesystem::remove_all(logs);
  return report.finish();
}
