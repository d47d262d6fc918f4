// SPDX-License-Identifier: Apache-2.0
// gain_cases CASE before|after|both STEPS [TURNS]: a mistake that an insight names, and the same
// work with the mistake mended. Prints the nanoseconds that the steps took; with "both" those of
// either, in turns of one process, so that a gain of few percent is not lost between two of them.
// Knows nothing of gpufl: `gains.py` runs it alone and under `gpufl trace`.
//
//   sync_in_loop   waits for the GPU after every step / once at the end
//   pageable       copies from and to pageable / pinned memory, beside nothing else
//   launch_bound   launches many tiny kernels one by one / as one graph

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bench/gpu/cuda_work.cuh"

namespace {

using namespace gpufl::bench;

// Some 20 us on an H200: long enough that launching it is hidden behind the one before.
__global__ void grind(float* values, int rounds) {
  float value = values[threadIdx.x];
  for (int i = 0; i < rounds; ++i) value = value * 1.0001F + 0.5F;
  values[threadIdx.x] = value;
}

constexpr int kGrindRounds = 8000;
constexpr int kKernelsInStep = 8;
constexpr int kTinyKernels = 200;
constexpr size_t kCopyBytes = size_t{32} << 20;

struct Case {
  const char* name;
  void (*run)(bool is_mended, int steps);
};

void sync_in_loop(bool is_mended, int steps) {
  static float* values = nullptr;
  if (values == nullptr) GPUFL_CUDA(cudaMalloc(&values, 1024 * sizeof(float)));
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < kKernelsInStep; ++i) grind<<<1, 256>>>(values, kGrindRounds);
    if (!is_mended) GPUFL_CUDA(cudaDeviceSynchronize());
  }
  GPUFL_CUDA(cudaDeviceSynchronize());
}

void pageable(bool is_mended, int steps) {
  static char *on_device = nullptr, *by_kind[2] = {};
  if (on_device == nullptr) GPUFL_CUDA(cudaMalloc(&on_device, kCopyBytes));
  char*& on_host = by_kind[is_mended];
  if (on_host == nullptr) {
    if (is_mended) {
      GPUFL_CUDA(cudaMallocHost(&on_host, kCopyBytes));
    } else {
      on_host = static_cast<char*>(std::malloc(kCopyBytes));
    }
    std::memset(on_host, 1, kCopyBytes);
  }
  for (int step = 0; step < steps; ++step) {
    GPUFL_CUDA(cudaMemcpyAsync(on_device, on_host, kCopyBytes, cudaMemcpyHostToDevice));
    GPUFL_CUDA(cudaMemcpyAsync(on_host, on_device, kCopyBytes, cudaMemcpyDeviceToHost));
  }
  GPUFL_CUDA(cudaDeviceSynchronize());
}

void launch_bound(bool is_mended, int steps) {
  static KernelChain* chain = nullptr;
  if (is_mended && chain == nullptr) chain = new KernelChain(kTinyKernels);
  for (int step = 0; step < steps; ++step) {
    if (is_mended) {
      chain->launch();
    } else {
      for (int i = 0; i < kTinyKernels; ++i) empty_kernel<<<1, 1>>>();
    }
  }
  GPUFL_CUDA(cudaDeviceSynchronize());
}

constexpr Case kCases[] = {
    {"sync_in_loop", sync_in_loop}, {"pageable", pageable}, {"launch_bound", launch_bound}};

long long took_ns(const Case& one, bool is_mended, int steps) {
  const auto start = std::chrono::steady_clock::now();
  one.run(is_mended, steps);
  const auto took = std::chrono::steady_clock::now() - start;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  const std::string how = argc > 2 ? argv[2] : "";
  const int steps = argc > 3 ? std::atoi(argv[3]) : 0;
  const int turns = argc > 4 ? std::atoi(argv[4]) : 1;
  std::vector<bool> ways;  // whether mended
  if (how == "before" || how == "both") ways.push_back(false);
  if (how == "after" || how == "both") ways.push_back(true);
  for (const Case& one : kCases) {
    if (wanted != one.name || ways.empty() || steps < 1) continue;
    require_gpu();
    for (const bool is_mended : ways) one.run(is_mended, 3);  // warm
    for (int turn = 0; turn < turns; ++turn) {
      for (const bool is_mended : ways) std::printf("%lld ", took_ns(one, is_mended, steps));
      std::printf("\n");
    }
    return 0;
  }
  std::fprintf(
      stderr,
      "usage: gain_cases sync_in_loop|pageable|launch_bound before|after|both STEPS [TURNS]\n");
  return 64;
}
