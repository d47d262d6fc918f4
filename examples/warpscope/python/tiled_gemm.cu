// SPDX-License-Identifier: Apache-2.0
// C = A * B^T in float, a tile of 64 x 64 a block, compiled by NVRTC from tiled_gemm.py. One warp
// loads slices of A and B by asynchronous copies into a ring of stages, two groups of two warps
// multiply them, each for its half of the rows. Compute capability 8.0 and newer.

#include <warpscope.cuh>

#include "layout.cuh"

#ifndef PROFILER
#define PROFILER ws::Profiler<true>
#endif

using layout::Int;
using layout::make_layout;
using layout::make_tensor;
using layout::modes;

// The loader comes last, so that each group begins at a multiple of kGroupThreads.
enum : uint32_t { kUpper = 0, kLower = 1, kLoader = 2 };
enum : uint32_t { kWaitForRoom = 0, kLoad = 1, kWaitForData = 2, kMultiply = 3, kStore = 4 };

constexpr int kTile = 64, kDepth = 16;     // rows of A and of B, columns of both
constexpr int kStages = 4, kInFlight = 2;  // slices in the ring, and of them under way at most
constexpr int kWarp = 32, kGroupThreads = 64, kThreads = kWarp + 2 * kGroupThreads;
constexpr int kRow = kDepth + 4;  // floats; rows lie apart so that no two share a bank

struct alignas(16) Chunk {  // what one copy moves
  float values[4];
};
struct Shared {
  alignas(16) float a[kStages][kTile * kRow], b[kStages][kTile * kRow];
  uint64_t loaded[kStages], emptied[kStages];
};

__device__ uint32_t address(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}
__device__ void barrier_init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address(barrier)), "r"(arrivals)
               : "memory");
}
__device__ void barrier_arrive(uint64_t* barrier) {
  asm volatile(
      "{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}\n" ::"r"(address(barrier))
      : "memory");
}
__device__ void barrier_wait(uint64_t* barrier, uint32_t parity) {
  uint32_t is_done = 0;
  while (!is_done) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "mbarrier.test_wait.parity.shared.b64 done, [%1], %2;\n"
        "selp.u32 %0, 1, 0, done;\n}\n"
        : "=r"(is_done)
        : "r"(address(barrier)), "r"(parity)
        : "memory");
  }
}
__device__ void copy_chunk(Chunk& to, const Chunk& from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(&to)), "l"(&from)
               : "memory");
}
__device__ void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
__device__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// The slice of a matrix in one stage, as floats and as the chunks that copies move.
__device__ auto slice(float* stage) {
  return make_tensor(stage,
                     make_layout(modes(Int<kTile>{}, Int<kDepth>{}), modes(Int<kRow>{}, Int<1>{})));
}
__device__ auto chunks(float* stage) {
  return make_tensor(
      reinterpret_cast<Chunk*>(stage),
      make_layout(modes(Int<kTile>{}, Int<kDepth / 4>{}), modes(Int<kRow / 4>{}, Int<1>{})));
}
__device__ auto chunks(const float* matrix, int rows, int columns) {
  return make_tensor(reinterpret_cast<const Chunk*>(matrix),
                     make_layout(modes(rows, columns / 4), modes(columns / 4, Int<1>{})));
}

// One warp copies a slice: 8 x 4 threads, so that four of them take whole sectors of a row.
template <typename From, typename To>
__device__ void copy_slice(const From& from, const To& to) {
  const auto threads = modes(Int<8>{}, Int<4>{});
  const auto mine_from = layout::part(from, threads, threadIdx.x % kWarp);
  const auto mine_to = layout::part(to, threads, threadIdx.x % kWarp);
#pragma unroll
  for (int i = 0; i < mine_to.map.shape.rows; ++i) copy_chunk(mine_to(i, 0), mine_from(i, 0));
}

__device__ uint32_t payload(int step) {
  return static_cast<uint32_t>(step % kStages | (step / kStages & 1) << 16);
}

template <typename P>
__device__ void load(P& p, Shared& shared, const float* a, const float* b, int m, int n, int k) {
  const auto slice_shape = modes(Int<kTile>{}, Int<kDepth / 4>{});
  const auto all_a = chunks(a, m, k), all_b = chunks(b, n, k);
  const int steps = k / kDepth;
  ws::Token under_way[kInFlight];
  // A range for each slice, open while it travels: they overlap, and each ends two steps later.
  for (int step = 0; step < steps + kInFlight; ++step) {
    if (step >= kInFlight) {
      const int landed = step - kInFlight;
      if (step < steps) {
        copy_wait<kInFlight - 1>();
      } else {
        copy_wait<0>();
      }
      p.close(under_way[landed % kInFlight], payload(landed));
      barrier_arrive(&shared.loaded[landed % kStages]);
    }
    if (step >= steps) continue;
    const int stage = step % kStages;
    p.tile(step);
    p.start(ws::Ev{kWaitForRoom}, payload(step) ^ 1u << 16);
    barrier_wait(&shared.emptied[stage], (step / kStages & 1) ^ 1);
    p.end(ws::Ev{kWaitForRoom}, payload(step) ^ 1u << 16);
    under_way[step % kInFlight] = p.open(ws::Ev{kLoad}, payload(step));
    copy_slice(layout::tile(all_a, slice_shape, blockIdx.y, step), chunks(shared.a[stage]));
    copy_slice(layout::tile(all_b, slice_shape, blockIdx.x, step), chunks(shared.b[stage]));
    copy_commit();
  }
}

template <typename P>
__device__ void multiply(P& p, Shared& shared, float* c, int m, int n, int k, int half) {
  const auto threads = modes(Int<8>{}, Int<8>{});
  const int thread = threadIdx.x % kGroupThreads;
  constexpr int kRows = kTile / 2 / 8, kColumns = kTile / 8;
  float sums[kRows][kColumns] = {};
  for (int step = 0; step < k / kDepth; ++step) {
    const int stage = step % kStages;
    p.tile(step);
    p.start(ws::Ev{kWaitForData}, payload(step));
    barrier_wait(&shared.loaded[stage], step / kStages & 1);
    p.end(ws::Ev{kWaitForData}, payload(step));
    p.start(ws::Ev{kMultiply}, payload(step));
    // Of A the rows of this thread's row of threads, of B those of its column.
    const auto half_a =
        layout::tile(slice(shared.a[stage]), modes(Int<kTile / 2>{}, Int<kDepth>{}), half, 0);
    const auto mine_a =
        layout::part(half_a, modes(threads.rows, Int<1>{}), thread / threads.columns);
    const auto mine_b = layout::part(slice(shared.b[stage]), modes(threads.columns, Int<1>{}),
                                     thread % threads.columns);
#pragma unroll 4
    for (int depth = 0; depth < kDepth; ++depth) {
      float right[kColumns];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) right[j] = mine_b(j, depth);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const float left = mine_a(i, depth);
#pragma unroll
        for (int j = 0; j < kColumns; ++j) sums[i][j] += left * right[j];
      }
    }
    // Before others are told: a wait must not end earlier than what it waited for.
    p.end(ws::Ev{kMultiply}, payload(step));
    barrier_arrive(&shared.emptied[stage]);
  }
  p.start(ws::Ev{kStore});
  const auto all_c = make_tensor(c, make_layout(modes(m, n), modes(n, Int<1>{})));
  const auto tile_c =
      layout::tile(all_c, modes(Int<kTile>{}, Int<kTile>{}), blockIdx.y, blockIdx.x);
  const auto half_c = layout::tile(tile_c, modes(Int<kTile / 2>{}, Int<kTile>{}), half, 0);
  const auto mine = layout::part(half_c, threads, thread);
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) mine(i, j) = sums[i][j];
  }
  p.end(ws::Ev{kStore});
}

// A: m x k, B: n x k, C: m x n, rows contiguous; m and n are multiples of kTile, k of kDepth and
// not shorter than kInFlight of it. A grid of n / kTile x m / kTile blocks.
extern "C" __global__ void __launch_bounds__(kThreads)
    tiled_gemm(const float* a, const float* b, float* c, int m, int n, int k, ws::Capture capture) {
  __shared__ Shared shared;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      barrier_init(&shared.loaded[stage], kWarp);
      barrier_init(&shared.emptied[stage], 2 * kGroupThreads);
    }
  }
  __syncthreads();
  const uint32_t group = threadIdx.x / kGroupThreads;
  PROFILER p;
  p.init(capture, group, threadIdx.x % kGroupThreads == 0);
  if (group == kLoader) {
    load(p, shared, a, b, m, n, k);
  } else {
    multiply(p, shared, c, m, n, k, group == kUpper ? 0 : 1);
  }
  p.finalize();
}
