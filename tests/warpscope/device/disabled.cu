// SPDX-License-Identifier: Apache-2.0
// A pipeline of two groups, compiled without a profiler, and with each one disabled: the machine
// code has to be the same. PROFILER is a type, or not defined.
#include <warpscope.cuh>

#if defined(PROFILER)
using P = PROFILER;
#define WITH_PROFILER(...) __VA_ARGS__
#else
#define WITH_PROFILER(...)
#endif

constexpr int kStages = 4;
constexpr int kWidth = 128;

extern "C" __global__ void pipeline(const __grid_constant__ ws::Capture capture, const float* in,
                                    float* out, int tiles) {
  __shared__ float stages[kStages][kWidth];
  WITH_PROFILER(__shared__ typename P::Ring rings[2]; P p;)
  const bool is_producer = threadIdx.x < kWidth;
  const int lane = threadIdx.x % kWidth;
  WITH_PROFILER(p.init(capture, rings[is_producer ? 0 : 1], is_producer ? 0 : 1, lane == 0);)
  float sum = 0;
  WITH_PROFILER(ws::Token load = p.open(ws::Ev{3});)
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    WITH_PROFILER(p.tile(tile);)
    const int stage = tile / gridDim.x % kStages;
    if (is_producer) {
      WITH_PROFILER(WS_REGION(p, 0); p.inst(ws::Ev{4}, stage);)
      stages[stage][lane] = in[tile * kWidth + lane];
    }
    WITH_PROFILER(p.start(ws::Ev{1}, stage);)
    __syncthreads();
    WITH_PROFILER(p.end(ws::Ev{1}, stage); p.close(load); load = p.open(ws::Ev{3}, stage);)
    if (!is_producer) {
      WITH_PROFILER(ws::ScopedRegion region(p, ws::Ev{2});)
      sum += stages[stage][lane] * stages[stage][kWidth - 1 - lane];
    }
  }
  WITH_PROFILER(p.close(load); p.finalize();)
  if (!is_producer) out[blockIdx.x * kWidth + lane] = sum;
}
