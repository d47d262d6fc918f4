// SPDX-License-Identifier: Apache-2.0
// steady [ROUNDS]: rounds of the same ten kernels on GPU 0, of every sort: limited by memory, by
// the cache, by arithmetic, by shared memory, by atomics. `record_fixtures.py --repeats` runs it
// many times to see by how much runs of one program differ. Knows nothing of GPUFlight.

#include <cstdint>
#include <cstdlib>

#include "bench/gpu/cuda_work.cuh"

namespace {

constexpr int kBlock = 256;
constexpr int kSide = 4096;  // of a square matrix: 64 MiB, more than the cache holds
constexpr int kCount = kSide * kSide;
constexpr int kCached = 1 << 21;  // 8 MiB
constexpr int kProductSide = 1024;
constexpr int kTile = 32;
constexpr int kBins = 1024;

__device__ int thread_number() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__global__ void copy_rows(float* to, const float* from) {
  to[thread_number()] = from[thread_number()];
}

__global__ void scale_cached(float* values) { values[thread_number()] *= 1.0001F; }

__global__ void add_cached(float* values, const float* others) {
  values[thread_number()] += others[thread_number()];
}

__global__ void sum_rows(float* sums, const float* values) {
  __shared__ float partial[kBlock];
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < kSide; i += kBlock) {
    sum += values[blockIdx.x * kSide + i];
  }
  partial[threadIdx.x] = sum;
  for (int width = kBlock / 2; width > 0; width /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < width) partial[threadIdx.x] += partial[threadIdx.x + width];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

__global__ void transpose(float* to, const float* from) {
  __shared__ float tile[kTile][kTile + 1];
  const int x = static_cast<int>(blockIdx.x) * kTile, y = static_cast<int>(blockIdx.y) * kTile;
  tile[threadIdx.y][threadIdx.x] = from[(y + threadIdx.y) * kSide + x + threadIdx.x];
  __syncthreads();
  to[(x + threadIdx.y) * kSide + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void multiply(float* to, const float* a, const float* b) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int row = static_cast<int>(blockIdx.y * kTile + threadIdx.y);
  const int column = static_cast<int>(blockIdx.x * kTile + threadIdx.x);
  float sum = 0;
  for (int k = 0; k < kProductSide; k += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * kProductSide + k + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * kProductSide + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  to[row * kProductSide + column] = sum;
}

__global__ void smooth(float* to, const float* from) {
  const int i = thread_number();
  to[i] = (from[i > 0 ? i - 1 : 0] + from[i] + from[i + 1 < kCount ? i + 1 : i]) / 3;
}

__global__ void gather(float* to, const float* from) {
  const uint32_t i = static_cast<uint32_t>(thread_number());
  to[i] = from[i * 2654435761U % kCount];
}

__global__ void grind(float* values) {
  float value = values[thread_number() % kCached];
  for (int i = 0; i < 4000; ++i) value = value * 1.0001F + 0.5F;
  values[thread_number() % kCached] = value;
}

__global__ void histogram(unsigned* bins, const float* values) {
  const int i = thread_number();
  atomicAdd(&bins[(__float_as_uint(values[i]) ^ static_cast<unsigned>(i)) % kBins], 1U);
}

template <typename T>
T* device_memory(size_t count) {
  T* memory = nullptr;
  GPUFL_CUDA(cudaMalloc(&memory, count * sizeof(T)));
  GPUFL_CUDA(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  if (argc > 2 || rounds < 1) {
    std::fprintf(stderr, "usage: steady [ROUNDS]\n");
    return 64;
  }
  float *const a = device_memory<float>(kCount), *const b = device_memory<float>(kCount);
  float *const cached = device_memory<float>(kCached), *const other = device_memory<float>(kCached);
  float* const sums = device_memory<float>(kSide);
  unsigned* const bins = device_memory<unsigned>(kBins);
  const dim3 tile(kTile, kTile), tiles(kSide / kTile, kSide / kTile);
  const dim3 product_tiles(kProductSide / kTile, kProductSide / kTile);
  for (int round = 0; round < rounds; ++round) {
    copy_rows<<<kCount / kBlock, kBlock>>>(b, a);
    scale_cached<<<kCached / kBlock, kBlock>>>(cached);
    add_cached<<<kCached / kBlock, kBlock>>>(other, cached);
    sum_rows<<<kSide, kBlock>>>(sums, b);
    transpose<<<tiles, tile>>>(a, b);
    multiply<<<product_tiles, tile>>>(cached, b, a);
    smooth<<<kCount / kBlock, kBlock>>>(b, a);
    gather<<<kCount / kBlock, kBlock>>>(a, b);
    grind<<<4 * 132, kBlock>>>(cached);
    histogram<<<kCached / kBlock, kBlock>>>(bins, other);
  }
  GPUFL_CUDA(cudaDeviceSynchronize());
  return 0;
}
