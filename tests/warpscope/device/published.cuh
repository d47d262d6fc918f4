// SPDX-License-Identifier: Apache-2.0
#pragma once

// A program as people write it for wire format v1. It has to compile as it is, for ever.
#include <warpscope.cuh>

enum : uint32_t { EvWait = 0, EvWork = 1 };

static_assert(WARPSCOPE_WIRE_VERSION == 1, "");
static_assert(ws::EventType::kBegin == 0 && ws::EventType::kEnd == 1, "");
static_assert(ws::EventType::kInstant == 2 && ws::EventType::kFinalize == 3, "");

template <bool kEnable>
__device__ void stages(ws::Profiler<kEnable>& p, int* data) {
  {
    WS_REGION(p, EvWait);
  }
  {
    WS_REGION(p, EvWork);
    data[threadIdx.x] += 1;
  }
  {
    ws::ScopedRegion region(p, ws::Ev{2});
    ws::ScopedRegion<kEnable> named(p, ws::Ev{3});
  }
  const ws::Ev event{5};
  p.start(event);
  p.inst(ws::Ev{6});
  p.end(event);
}

extern "C" __global__ void published(int* data, uint64_t* prof, uint32_t stride,
                                     uint32_t num_groups, uint32_t num_blocks, uint32_t max_rec) {
  ws::Profiler<true> p;
  ws::Profiler<> uncapped;
  ws::Profiler<false> off;
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) {
    p.init(prof, stride, /*group=*/0, num_groups, num_blocks, /*leader=*/lane == 0, max_rec);
    stages(p, data);
    p.finalize();
  } else if (warp == 1) {
    uncapped.init(prof, stride, 1, num_groups, num_blocks, lane == 0);
    stages(uncapped, data);
    uncapped.finalize();
  } else {
    off.init(prof, stride, 2, num_groups, num_blocks, lane == 0, max_rec);
    stages(off, data);
    off.finalize();
    data[threadIdx.x] = static_cast<int>(ws::globaltimer_lo());
  }
}
