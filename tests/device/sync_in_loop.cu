// SPDX-License-Identifier: Apache-2.0
// sync_in_loop FOLDER: waits for the GPU inside a loop, which is what profilers look for. Built
// with debug info; prints the line that waits.

#include "tests/device/cuda_program.cuh"

namespace {

using namespace gpufl::device_test;

constexpr int kSteps = 50;
constexpr int kWaitLine = __LINE__ + 6;

[[gnu::noinline]] void train() {
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < 4; ++i) empty<<<1, 32>>>();
    // The next line is the one.
    const cudaError_t status = cudaDeviceSynchronize();
    require_cuda(status, "cudaDeviceSynchronize");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  gpufl::InitOptions options;
  options.enable_stack_trace = true;
  start_session(argv[1], options);
  train();
  gpufl::shutdown();
  std::printf("%d\n", kWaitLine);
  return 0;
}
