// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every call of the device header in one kernel: what nvcc and NVRTC have to take.
#include <warpscope.cuh>

#include "published.cuh"

template <class P>
__device__ void plain_calls(P& p, int* data) {
  for (int tile = 0; tile < 3; ++tile) {
    p.tile(tile);
    p.start(ws::Ev{1});
    data[threadIdx.x] += tile;
    p.end(ws::Ev{1});
    p.inst(ws::Ev{2});
    WS_REGION(p, 3);
    WS_REGION(p, ws::Ev{4});
  }
}

template <class P>
__device__ void extended_calls(P& p, int* data) {
  ws::Token before = p.open(ws::Ev{5});
  for (int tile = 0; tile < 3; ++tile) {
    p.start(ws::Ev{1}, tile);
    p.end(ws::Ev{1}, tile | 1 << 16);
    p.inst(ws::Ev{2}, 7);
    const ws::Token token = p.open(ws::Ev{6}, tile);
    data[threadIdx.x] += tile;
    p.close(before);
    before = token;
  }
  p.close(before, 9);
}

template <bool kEnable, ws::Clock kClock>
__device__ void each_profiler(const ws::Capture& capture, uint64_t slots, int* data) {
  const uint32_t group = threadIdx.x / 32;
  const bool is_leader = threadIdx.x % 32 == 0;
  ws::Profiler<kEnable, kClock> plain;
  plain.init(capture.words, capture.write_stride, group, 4, gridDim.x, is_leader, ws::Slots{slots});
  plain_calls(plain, data);
  plain.finalize();
  plain.init(capture, group, is_leader);
  extended_calls(plain, data);
  plain.finalize();

  using Fast = ws::FastProfiler<kEnable, kClock>;
  __shared__ typename Fast::Ring rings[4];
  Fast fast;
  fast.init(capture, rings[group], group, is_leader);
  plain_calls(fast, data);
  fast.finalize();

  using Extended = ws::FastProfiler<kEnable, kClock, true, 32>;
  __shared__ typename Extended::Ring extended_rings[4];
  Extended extended;
  extended.init(capture, extended_rings[group], group, is_leader);
  plain_calls(extended, data);
  extended_calls(extended, data);
  extended.finalize();
}

extern "C" __global__ void every_call(const ws::Capture capture, uint64_t slots, int* data) {
  each_profiler<true, ws::Clock::Globaltimer>(capture, slots, data);
  each_profiler<false, ws::Clock::Cycles>(capture, slots, data);
}

extern "C" __global__ void cycles(const ws::Capture capture, int* data) {
  using P = ws::FastProfiler<true, ws::Clock::Cycles>;
  __shared__ P::Ring ring;
  P fast;
  fast.init(capture, ring, 0, threadIdx.x == 0);
  {
    WS_REGION(fast, 1);
  }
  fast.finalize();
  ws::Profiler<true, ws::Clock::Cycles> plain;
  plain.init(capture, 0, threadIdx.x == 0);
  {
    WS_REGION(plain, 1);
  }
  plain.finalize();
}
