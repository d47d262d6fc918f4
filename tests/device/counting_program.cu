// SPDX-License-Identifier: Apache-2.0
// Kernels whose counts by instruction are known, each in a good and a bad variant, for so many
// seconds: `counting_program SECONDS`.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kBlocks = 264, kThreads = 256;
constexpr unsigned kValues = 1u << 24;

#define REQUIRE_CUDA(call) require_cuda((call), #call)
void require_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "counting_program: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(2);
}

// Threads of a warp read neighbours: four sectors where four will do.
__global__ void gather_neighbours(const float* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i % kValues] + 1.0f;
}

// Each thread reads a line of its own: 32 sectors where four would do.
__global__ void gather_strided(const float* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[(i * 32) % kValues] + 1.0f;
}

// Every thread has a bank of its own.
__global__ void shared_padded(float* out, int rounds) {
  __shared__ volatile float values[32 * 33];
  const unsigned lane = threadIdx.x % 32;
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    values[lane * 33] = static_cast<float>(i);
    sum += values[lane * 33];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// All 32 threads of a warp use one bank: 32 passes where one would do.
__global__ void shared_conflicting(float* out, int rounds) {
  __shared__ volatile float values[32 * 32];
  const unsigned lane = threadIdx.x % 32;
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    values[lane * 32] = static_cast<float>(i);
    sum += values[lane * 32];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__device__ __noinline__ float slow(float value, int rounds) {
  for (int i = 0; i < rounds; ++i) value = sqrtf(value) + 1.0f;
  return value;
}

__device__ __noinline__ float slower(float value, int rounds) {
  for (int i = 0; i < rounds; ++i) value = sqrtf(value) * 0.5f + 2.0f;
  return value;
}

// Whole warps take one branch.
__global__ void branch_by_warp(float* out, int rounds) {
  const float value = static_cast<float>(threadIdx.x);
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      (threadIdx.x / 32) % 2 == 0 ? slow(value, rounds) : slower(value, rounds);
}

// Every second thread takes the other: 16 of 32 are active in each.
__global__ void branch_by_thread(float* out, int rounds) {
  const float value = static_cast<float>(threadIdx.x);
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      threadIdx.x % 2 == 0 ? slow(value, rounds) : slower(value, rounds);
}

// A quarter of the threads is let by the predicate of three instructions.
__global__ void predicated(int* out) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  int value = lane;
  asm volatile(
      "{.reg .pred p; setp.lt.s32 p, %1, 8; @p add.s32 %0, %0, 7; @p xor.b32 %0, %0, 5; "
      "@p mul.lo.s32 %0, %0, 3;}"
      : "+r"(value)
      : "r"(lane));
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  float *in = nullptr, *out = nullptr;
  REQUIRE_CUDA(cudaMalloc(&in, kValues * sizeof(float)));
  REQUIRE_CUDA(cudaMalloc(&out, kBlocks * kThreads * sizeof(float)));
  REQUIRE_CUDA(cudaMemset(in, 0, kValues * sizeof(float)));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[1]));
  while (std::chrono::steady_clock::now() < end) {
    gather_neighbours<<<kBlocks, kThreads>>>(in, out);
    gather_strided<<<kBlocks, kThreads>>>(in, out);
    shared_padded<<<kBlocks, kThreads>>>(out, 100);
    shared_conflicting<<<kBlocks, kThreads>>>(out, 100);
    branch_by_warp<<<kBlocks, kThreads>>>(out, 100);
    branch_by_thread<<<kBlocks, kThreads>>>(out, 100);
    predicated<<<kBlocks, kThreads>>>(reinterpret_cast<int*>(out));
    REQUIRE_CUDA(cudaDeviceSynchronize());
  }
  REQUIRE_CUDA(cudaGetLastError());
  return 0;
}
