// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <chrono>

#include "bench/gpu/cuda_work.cuh"

// A storm of launches of an empty kernel, timed: what recording costs shows in nothing else.
// Included by one source of a program. The calling thread.
namespace gpufl::bench {

inline constexpr int kLaunches = 100'000;
inline constexpr int kWarmLaunches = 1'000;     // CUPTI and the collector begin in them
inline constexpr int kLaunchesPerSync = 1'000;  // bounds the queue in front of the GPU

// Keeps the launching thread on one core while a window lasts; threads that are started between
// windows are not bound by it.
class OnOneCore {
 public:
  OnOneCore() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    int last = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) last = cpu;
    }
    CPU_SET(last, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OnOneCore() { sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;

 private:
  cpu_set_t before_;
};

inline void launch(int count) {
  for (int i = 0; i < count; ++i) {
    empty_kernel<<<1, 1>>>();
    if (i % kLaunchesPerSync == 0) GPUFL_CUDA(cudaDeviceSynchronize());
  }
  GPUFL_CUDA(cudaDeviceSynchronize());
}

// Nanoseconds a launch, over one window.
inline double launch_window() {
  using Clock = std::chrono::steady_clock;
  const OnOneCore one_core;
  launch(kWarmLaunches);
  const Clock::time_point start = Clock::now();
  launch(kLaunches);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kLaunches;
}

}  // namespace gpufl::bench
