// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/nvidia/cuda/cuda_contexts.hpp"
#include "backend/tracing/launch_gate.hpp"

// A moment in which the program launches nothing and its GPUs have nothing to do. Kernel records of
// a graph that still runs must not be forced out of CUPTI: after it is given up, the next launch of
// that graph fails, and with it the program (CUPTI 13.0). For moments, not for long.
namespace gpufl::backend {

class QuietGpu {
 public:
  // Waits for launches under way and for the GPUs' work, a quarter of a second at most.
  QuietGpu(LaunchGate& gate, uint32_t gate_session, const CudaContexts& contexts);
  // Lets launches go on.
  ~QuietGpu();
  QuietGpu(const QuietGpu&) = delete;
  QuietGpu& operator=(const QuietGpu&) = delete;

  // False: it could not be had. The program has not been held up for longer, and goes on.
  bool is_quiet() const { return is_quiet_; }

 private:
  LaunchGate& gate_;
  bool is_quiet_ = false;
};

}  // namespace gpufl::backend
