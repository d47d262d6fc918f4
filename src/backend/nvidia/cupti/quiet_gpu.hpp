// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/nvidia/cuda/cuda_contexts.hpp"
#include "backend/tracing/launch_gate.hpp"

// A while in which the program launches nothing and its GPUs have nothing to do. Graphs that are
// replayed while CUPTI is given up, or while records of theirs are forced out of it, fail at their
// next launch, and with them the program (CUPTI 13.0): docs/design/pc-sampling.md. Threads wait
// where a launch returns, because CUPTI must not be given up under one that is about to make a
// call.
namespace gpufl::backend {

class QuietGpu {
 public:
  // Waits for launches under way and for the GPUs' work, a quarter of a second at most.
  QuietGpu(LaunchGate& gate, uint32_t gate_session, const CudaContexts& contexts);
  // Lets the program go on.
  ~QuietGpu() { gate_.unpark(); }
  // Somebody who was between two calls may have made one since: then GPUs are waited for again.
  // Until threads are parked, all of them, or make no calls, as long as threads may be parked at
  // all.
  void settle();
  QuietGpu(const QuietGpu&) = delete;
  QuietGpu& operator=(const QuietGpu&) = delete;

  // False: it could not be had, or has lasted too long, and the program goes on.
  bool is_quiet() const {
    return is_quiet_ && gate_.is_parking() && gate_.parked() == parked_ &&
           !gate_.is_launch_under_way(gate_session_);
  }

 private:
  bool wait_until_quiet();

  LaunchGate& gate_;
  const uint32_t gate_session_;
  const CudaContexts& contexts_;
  uint32_t parked_ = 0;  // threads, when the GPUs had nothing to do
  bool is_quiet_ = false;
};

}  // namespace gpufl::backend
