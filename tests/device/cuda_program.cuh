// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>
#include <gpufl/gpufl.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

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

// main() of a program that is called with a folder and a scenario: traces that one there.
inline int run_scenario(int argc, char** argv, const std::map<std::string, void (*)()>& scenarios) {
  const auto scenario = argc == 3 ? scenarios.find(argv[2]) : scenarios.end();
  if (scenario == scenarios.end()) return 64;
  start_session(argv[1]);
  scenario->second();
  shutdown();
  return 0;
}

}  // namespace gpufl::device_test
