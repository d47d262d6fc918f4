// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>
#include <gpufl/gpufl.hpp>

#include <cstdio>
#include <cstdlib>

// What the programs that device tests start have in common. Included by one source of a program.
// Nothing returns from an error: it is said, and the program ends with 2.
namespace gpufl::device_test {

#define REQUIRE_CUDA(call) ::gpufl::device_test::require_cuda((call), #call)

inline void require_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, call,
               cudaGetErrorString(status));
  std::exit(2);
}

static __global__ void empty() {}

inline void synchronize() { REQUIRE_CUDA(cudaDeviceSynchronize()); }

// A Trace session in `folder`, with what `options` say beyond that.
inline void start_session(const char* folder, InitOptions options = {}) {
  options.app_name = program_invocation_short_name;
  options.log_path = folder;
  options.profiling_engine = ProfilingEngine::Trace;
  if (init(options)) return;
  std::fprintf(stderr, "%s: no session in %s\n", program_invocation_short_name, folder);
  std::exit(2);
}

}  // namespace gpufl::device_test
