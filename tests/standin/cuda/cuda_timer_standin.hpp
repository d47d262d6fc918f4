// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// How a test plays the GPU whose %globaltimer is read, behind the stand-in libcuda: what the
// library's own function cuda_timer_standin() returns. A kernel that is launched is a thread. Any
// thread.
namespace gpufl::standin {

// Told of kernels, so that a stand-in libcupti can record them; times are of the monotonic clock.
struct CudaKernelHooks {
  uint32_t (*launched)();  // on the thread that launches; an id for the other
  void (*ended)(uint32_t id, int64_t begin_ns, int64_t end_ns);
  void (*allocated)();
};

struct CudaTimerStandin {
  // As if just loaded: CUDA is initialised, a context is current on all threads.
  void (*reset)(const CudaKernelHooks& hooks);
  // How the timer runs: what it is ahead of the monotonic clock, and what it gains a second.
  void (*set_timer)(int64_t ahead_ns, double gains_ns_per_s);
  uint64_t (*timer_at)(int64_t monotonic_ns);
  void (*set_context)(uint64_t id);              // 0: none is current
  void (*fail)(const char* function, int code);  // from now on; 0: it works again
  void (*hold_kernels)(bool hold);  // those that are launched meanwhile begin when they are let go
  uint32_t (*modules_loaded)();     // since reset
  void (*wait_for_kernels)();       // until none runs
};

using CudaTimerStandinFunction = const CudaTimerStandin*();

}  // namespace gpufl::standin
