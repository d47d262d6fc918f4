// SPDX-License-Identifier: Apache-2.0
// gpu_load SECONDS: keeps GPU 0 busy on every SM and holds 1 GiB of its memory, for device tests to
// look at. Prints "ready" once the load runs.

#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr size_t kHeldBytes = size_t{1} << 30;
constexpr int kBlocks = 1024;
constexpr int kThreads = 256;

__global__ void multiply(float* out) {
  float value = static_cast<float>(threadIdx.x);
  for (int i = 0; i < 100000; ++i) value = value * 1.000001f + 0.5f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "gpu_load: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(atof(argv[1]));
  float* memory = nullptr;
  require(cudaMalloc(&memory, kHeldBytes), "cudaMalloc");
  bool announced = false;
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 16; ++i) multiply<<<kBlocks, kThreads>>>(memory);
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    if (!announced) {
      std::puts("ready");
      std::fflush(stdout);
      announced = true;
    }
  }
  return 0;
}
