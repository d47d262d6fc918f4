// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel of toy.cu, which nvcc compiles, and of python/toy.py, which NVRTC does: four warps
// that wait for each other and then work, each longer than the one before, in wire format v1.

#include <warpscope.cuh>

enum : uint32_t { EvWait = 0, EvWork = 1 };
constexpr uint32_t kRounds = 6;

inline __device__ void spin(uint32_t ns) {
  const uint32_t begin = ws::globaltimer_lo();
  while (ws::globaltimer_lo() - begin < ns) {
  }
}

extern "C" __global__ void toy(uint64_t* prof, uint32_t stride, uint32_t num_groups,
                               uint32_t num_blocks, uint32_t max_rec) {
  ws::Profiler<true> p;  // <false> compiles to nothing
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  p.init(prof, stride, warp, num_groups, num_blocks, lane == 0, max_rec);
  for (uint32_t round = 0; round < kRounds; ++round) {
    {
      WS_REGION(p, EvWait);
      __syncthreads();
    }
    {
      WS_REGION(p, EvWork);
      spin(1000 * (warp + 1));
    }
  }
  p.finalize();
}
