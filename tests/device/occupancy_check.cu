// SPDX-License-Identifier: Apache-2.0
// Our calculation of theoretical occupancy against CUDA's own, for kernels of many sizes on the GPU
// that is there. Prints how many agree; exits with 1 when one does not.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

#include "backend/nvidia/cuda/occupancy.hpp"

namespace {

using gpufl::backend::CudaDriver;
using gpufl::backend::Multiprocessor;
using gpufl::backend::Occupancy;

// Keeps `kLive` values alive across a barrier, so that kernels differ in their registers.
template <int kLive>
__global__ void hold(float* out, int n) {
  float values[kLive];
#pragma unroll
  for (int i = 0; i < kLive; ++i) values[i] = out[(threadIdx.x + i * 32) % n];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kLive; ++i) {
    if (threadIdx.x + i == static_cast<unsigned>(n))
      out[i] = values[i] * values[(i * 7 + 1) % kLive];
  }
}

template <int kBytes>
__global__ void share(float* out) {
  __shared__ char bytes[kBytes];
  bytes[threadIdx.x % kBytes] = static_cast<char>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = bytes[(threadIdx.x * 3) % kBytes];
}

struct Tally {
  int compared = 0, different = 0;
};

void compare(const Multiprocessor& sm, const void* kernel, Tally& tally) {
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) return;
  int most_dynamic = 0;
  cudaDeviceGetAttribute(&most_dynamic, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  most_dynamic -= static_cast<int>(attributes.sharedSizeBytes);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_dynamic);
  for (int threads = 32; threads <= attributes.maxThreadsPerBlock; threads += 96) {
    for (int shared = 0; shared <= most_dynamic; shared += 7'001) {
      int expected = 0;
      if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &expected, kernel, threads, static_cast<size_t>(shared)) != cudaSuccess ||
          expected == 0) {
        continue;
      }
      const Occupancy ours = occupancy(
          sm,
          {threads, attributes.numRegs, static_cast<int32_t>(attributes.sharedSizeBytes) + shared});
      ++tally.compared;
      if (ours.blocks == expected) continue;
      ++tally.different;
      std::printf("threads %d registers %d static %zu dynamic %d: CUDA says %d, we %d (%.*s)\n",
                  threads, attributes.numRegs, attributes.sharedSizeBytes, shared, expected,
                  ours.blocks, static_cast<int>(ours.bound.size()), ours.bound.data());
    }
  }
}

}  // namespace

int main() {
  if (cudaFree(nullptr) != cudaSuccess) {
    std::printf("no GPU\n");
    return 77;
  }
  const auto sm = Multiprocessor::of_device(CudaDriver(), 0);
  if (!sm) {
    std::printf("the driver does not tell what a multiprocessor has\n");
    return 1;
  }
  Tally tally;
  for (const void* kernel :
       {reinterpret_cast<const void*>(hold<1>), reinterpret_cast<const void*>(hold<16>),
        reinterpret_cast<const void*>(hold<40>), reinterpret_cast<const void*>(hold<80>),
        reinterpret_cast<const void*>(hold<150>), reinterpret_cast<const void*>(share<1000>),
        reinterpret_cast<const void*>(share<10'000>),
        reinterpret_cast<const void*>(share<40'000>)}) {
    compare(*sm, kernel, tally);
  }
  std::printf("compute capability %d.%d: %d configurations, %d differ\n", sm->compute_major,
              sm->compute_minor, tally.compared, tally.different);
  return tally.different == 0 && tally.compared >= 300 ? 0 : 1;
}
