// SPDX-License-Identifier: Apache-2.0
#include "tests/trace/waiting_module.hpp"

#include "backend/nvidia/cuda/cuda_start.hpp"
#include "backend/nvidia/cupti/cupti_tracer.hpp"

namespace gpufl::backend {

std::unique_ptr<Tracer> make_waiting_tracer() { return make_cupti_tracer(nullptr, {}, {}); }

}  // namespace gpufl::backend

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  return gpufl::backend::nvidia_cuda_starts() ? 1 : 0;
}
