// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>

#include <cstdint>

#include "examples/warpscope/device_capture.cuh"
#include "examples/warpscope/hopper.cuh"

// A persistent matrix product for sm_90a: C (M x N) = A (M x K) * B (N x K) transposed, bfloat16
// with sums in float. One group loads tiles of 128 x 64 and 256 x 64 through tensor maps, two
// multiply 64 x 256 each. Per step of 64 in K a block records 12 events: each group one wait and
// one piece of work.
namespace ws_example::gemm {

constexpr int kTileM = 128, kTileN = 256, kTileK = 64;
constexpr int kStages = 4;
constexpr int kGroupThreads = 128;
constexpr int kThreads = 3 * kGroupThreads;
constexpr int kBandTiles = 16;  // tiles in M whose B stays in L2

enum : uint32_t { kLoader = 0, kFirstMultiplier = 1, kSecondMultiplier = 2, kNumGroups = 3 };
enum : uint32_t { kWaitEmpty = 0, kLoad = 1, kWaitFull = 2, kMultiply = 3, kStore = 4 };

inline ws::Names names() {
  ws::Names names;
  names.kernel = "gemm_128x256x64";
  names.events = {
      {kWaitEmpty, "wait empty"}, {kLoad, "load"},   {kWaitFull, "wait full"},
      {kMultiply, "multiply"},    {kStore, "store"},
  };
  names.groups = {
      {kLoader, "loader"}, {kFirstMultiplier, "multiplier 0"}, {kSecondMultiplier, "multiplier 1"}};
  names.waits = {kWaitEmpty, kWaitFull};
  names.flows = {{kLoad, kWaitFull}, {kMultiply, kWaitEmpty}};
  return names;
}

struct Problem {
  int m, n, k;
  // Which group is made slow, by how many cycles at each step; kNumGroups: none.
  uint32_t slow_group = kNumGroups;
  uint32_t slow_cycles = 0;

  bool is_possible() const {
    return m > 0 && n > 0 && k > 0 && m % kTileM == 0 && n % kTileN == 0 && k % kTileK == 0;
  }
  uint32_t steps() const { return static_cast<uint32_t>(k / kTileK); }
  __host__ __device__ uint32_t tiles() const {
    return static_cast<uint32_t>(m / kTileM) * (n / kTileN);
  }
};

template <typename P>
struct Shared {
  alignas(1024) __nv_bfloat16 a[kStages][kTileM * kTileK];
  alignas(1024) __nv_bfloat16 b[kStages][kTileN * kTileK];
  uint64_t full[kStages], empty[kStages];
  typename P::Ring rings[kNumGroups];
};

// The stage of the pipeline that a group is at, and the parity of its round.
struct Position {
  uint32_t stage = 0, phase = 0;
  __device__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
  __device__ uint32_t payload() const { return stage | phase << 16; }
};

// Events with stage and phase, where the profiler takes them.
template <typename P>
__device__ __forceinline__ void begin(P& p, uint32_t event, uint32_t payload) {
  if constexpr (P::kTakesPayloads) {
    p.start(ws::Ev{event}, payload);
  } else {
    p.start(ws::Ev{event});
  }
}
template <typename P>
__device__ __forceinline__ void finish(P& p, uint32_t event, uint32_t payload) {
  if constexpr (P::kTakesPayloads) {
    p.end(ws::Ev{event}, payload);
  } else {
    p.end(ws::Ev{event});
  }
}

// Products of one stage: they are under way while those of the next are issued, which tokens tell.
// Without tokens, which need extension words, ranges that overlap would be paired wrongly: then it
// is the time to issue them.
template <typename P>
class Products {
 public:
  __device__ __forceinline__ explicit Products(const ws::Capture& capture)
      : has_tokens_(capture.extensions != nullptr) {}

  __device__ __forceinline__ void issue(P& p, const Position& at) {
    if constexpr (P::kTakesPayloads) {
      if (has_tokens_) {
        newest_ = p.open(ws::Ev{kMultiply}, at.payload());
        return;
      }
    }
    p.start(ws::Ev{kMultiply});
  }
  __device__ __forceinline__ void done_but_newest(P& p, bool is_first) {
    if constexpr (P::kTakesPayloads) {
      if (has_tokens_) {
        if (!is_first) p.close(before_);
        before_ = newest_;
        return;
      }
    }
    p.end(ws::Ev{kMultiply});
  }
  __device__ __forceinline__ void done(P& p) {
    if constexpr (P::kTakesPayloads) {
      if (has_tokens_) p.close(newest_);
    }
  }

 private:
  const bool has_tokens_;
  ws::Token newest_ = {0, ws::kNoToken}, before_ = {0, ws::kNoToken};
};

__device__ __forceinline__ void spin(uint32_t cycles) {
  const uint32_t begin = clock();
  while (static_cast<uint32_t>(clock()) - begin < cycles) {
  }
}

// Bands of kBandTiles tiles in M, column by column.
__device__ __forceinline__ void tile_corner(const Problem& problem, uint32_t tile, int& row,
                                            int& column) {
  const uint32_t tiles_m = problem.m / kTileM, tiles_n = problem.n / kTileN;
  const uint32_t band = tile / (kBandTiles * tiles_n);
  const uint32_t height = min(tiles_m - band * kBandTiles, static_cast<uint32_t>(kBandTiles));
  const uint32_t inside = tile - band * kBandTiles * tiles_n;
  row = static_cast<int>(band * kBandTiles + inside % height) * kTileM;
  column = static_cast<int>(inside / height) * kTileN;
}

template <typename P>
__device__ void load_tiles(P& p, Shared<P>& shared, const CUtensorMap& map_a,
                           const CUtensorMap& map_b, const Problem& problem) {
  const bool is_slow = problem.slow_group == kLoader;
  Position at;
  uint32_t number = 0;
  for (uint32_t tile = blockIdx.x; tile < problem.tiles(); tile += gridDim.x) {
    p.tile(number++);
    int row, column;
    tile_corner(problem, tile, row, column);
    for (int k = 0; k < problem.k; k += kTileK) {
      // It waits for the end of the round before.
      begin(p, kWaitEmpty, at.payload() ^ 1u << 16);
      hopper::barrier_wait(&shared.empty[at.stage], at.phase ^ 1);
      finish(p, kWaitEmpty, at.payload() ^ 1u << 16);
      begin(p, kLoad, at.payload());
      if (is_slow) spin(problem.slow_cycles);
      uint64_t* const full = &shared.full[at.stage];
      hopper::barrier_expect(full, sizeof(shared.a[0]) + sizeof(shared.b[0]));
      hopper::load_box(shared.a[at.stage], &map_a, full, k, row);
      hopper::load_box(shared.b[at.stage], &map_b, full, k, column);
      finish(p, kLoad, at.payload());
      at.advance();
    }
  }
}

// The thread's part of 64 x 256 sums: two rows, pairs of columns.
__device__ __forceinline__ void store_sums(const float (&sums)[128], __nv_bfloat16* c, int row,
                                           int column, int n) {
  const int warp = threadIdx.x % kGroupThreads / 32, lane = threadIdx.x % 32;
  __nv_bfloat16* const upper =
      c + static_cast<int64_t>(row + warp * 16 + lane / 4) * n + column + lane % 4 * 2;
  __nv_bfloat16* const lower = upper + int64_t{8} * n;
#pragma unroll
  for (int j = 0; j < kTileN / 8; ++j) {
    *reinterpret_cast<__nv_bfloat162*>(upper + j * 8) =
        __floats2bfloat162_rn(sums[j * 4], sums[j * 4 + 1]);
    *reinterpret_cast<__nv_bfloat162*>(lower + j * 8) =
        __floats2bfloat162_rn(sums[j * 4 + 2], sums[j * 4 + 3]);
  }
}

template <typename P>
__device__ void multiply_tiles(P& p, Products<P> products, Shared<P>& shared, __nv_bfloat16* c,
                               uint32_t group, const Problem& problem) {
  const bool is_slow = problem.slow_group == group;
  const bool is_leader = threadIdx.x % kGroupThreads == 0;
  const int half = static_cast<int>(group - kFirstMultiplier);
  Position at;
  uint32_t number = 0;
  for (uint32_t tile = blockIdx.x; tile < problem.tiles(); tile += gridDim.x) {
    p.tile(number++);
    float sums[128];
    uint32_t before = 0;  // the stage whose products are under way
    for (int k = 0; k < problem.k; k += kTileK) {
      const bool is_first = k == 0;
      begin(p, kWaitFull, at.payload());
      hopper::barrier_wait(&shared.full[at.stage], at.phase);
      finish(p, kWaitFull, at.payload());
      products.issue(p, at);
      if (is_slow) spin(problem.slow_cycles);
      const uint64_t a = hopper::swizzled_matrix(shared.a[at.stage] + half * (kTileM / 2) * kTileK);
      const uint64_t b = hopper::swizzled_matrix(shared.b[at.stage]);
      hopper::product_fence();
#pragma unroll
      for (int i = 0; i < kTileK / 16; ++i) {
        hopper::multiply_64x256x16(sums, a + 2 * i, b + 2 * i, !is_first || i != 0);
      }
      hopper::product_commit();
      hopper::product_wait<1>(sums);
      products.done_but_newest(p, is_first);
      if (!is_first && is_leader) hopper::barrier_arrive(&shared.empty[before]);
      before = at.stage;
      at.advance();
    }
    hopper::product_wait<0>(sums);
    products.done(p);
    if (is_leader) hopper::barrier_arrive(&shared.empty[before]);
    p.start(ws::Ev{kStore});
    int row, column;
    tile_corner(problem, tile, row, column);
    store_sums(sums, c, row + half * (kTileM / 2), column, problem.n);
    p.end(ws::Ev{kStore});
  }
}

template <typename P>
__global__ void __launch_bounds__(kThreads, 1)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           __nv_bfloat16* c, const Problem problem, const __grid_constant__ ws::Capture capture) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ char memory[];
  // Swizzled boxes begin at multiples of 1,024 bytes.
  Shared<P>& shared =
      *reinterpret_cast<Shared<P>*>(memory + (1024 - hopper::shared_address(memory) % 1024) % 1024);
  const uint32_t group = threadIdx.x / kGroupThreads;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      hopper::barrier_init(&shared.full[stage], 1);
      hopper::barrier_init(&shared.empty[stage], 2);
    }
    hopper::barrier_init_fence();
  }
  __syncthreads();
  P p;
  if (group == kLoader) {
    hopper::give_up_registers<40>();
    if (threadIdx.x == 0) {
      p.init(capture, shared.rings[group], group, true);
      load_tiles(p, shared, map_a, map_b, problem);
      p.finalize();
    }
  } else {
    hopper::take_registers<232>();
    p.init(capture, shared.rings[group], group, threadIdx.x % kGroupThreads == 0);
    multiply_tiles(p, Products<P>(capture), shared, c, group, problem);
    p.finalize();
  }
#endif
}

// What a straightforward kernel says of the same product.
static __global__ void reference(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c,
                                 Problem problem) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= problem.n) return;
  float sum = 0;
  for (int k = 0; k < problem.k; ++k) {
    sum += __bfloat162float(a[static_cast<int64_t>(row) * problem.k + k]) *
           __bfloat162float(b[static_cast<int64_t>(column) * problem.k + k]);
  }
  c[static_cast<int64_t>(row) * problem.n + column] = sum;
}

// The slots a lane needs for all of a problem on `blocks` blocks, an even number.
inline uint32_t records_of_lane(const Problem& problem, uint32_t blocks) {
  const uint32_t tiles = (problem.tiles() + blocks - 1) / blocks;
  return (tiles * (problem.steps() * 4 + 2) + 2) / 2 * 2;
}

}  // namespace ws_example::gemm
