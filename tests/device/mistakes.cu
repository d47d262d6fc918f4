// SPDX-License-Identifier: Apache-2.0
// mistakes NAME: makes, on GPU 0, the one mistake that the insight NAME tells of, large enough to
// be told beside the start of CUDA, which is most of so short a session. Recorded by
// record_fixtures.py as the real cases of the rules (tests/insights); knows nothing of GPUFlight
// and is built with debug info.

#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "bench/gpu/cuda_work.cuh"

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int kBlock = 256;
constexpr size_t kLargeBytes = size_t{64} << 20;
constexpr int kRoundsOfMs = 400'000;  // that work() takes a millisecond for

__device__ float grind(float value, int rounds) {
  for (int i = 0; i < rounds; ++i) value = value * 1.0001F + 0.5F;
  return value;
}

__global__ void work(float* values, int rounds) {
  values[threadIdx.x] = grind(values[threadIdx.x], rounds);
}

// As much shared memory as leaves room for two blocks on a multiprocessor.
__global__ void tiled(float* values, int rounds) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = grind(tile[blockDim.x - 1 - threadIdx.x], rounds);
}

// More values in use than the registers that two blocks of 1,024 threads leave for each.
__global__ void __launch_bounds__(1024, 2) spilling(float* values, int rounds) {
  constexpr int kLive = 48;
  float live[kLive];
  for (int i = 0; i < kLive; ++i) live[i] = values[(threadIdx.x + i) % 1024];
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kLive; ++i) live[i] = live[i] * 1.0001F + live[(i + 7) % kLive];
  }
  float sum = 0;
  for (int i = 0; i < kLive; ++i) sum += live[i];
  values[threadIdx.x] = sum;
}

__global__ void write_to(float* address) { *address = 1; }

float* device_memory(size_t bytes = 4096 * sizeof(float)) {
  float* memory = nullptr;
  GPUFL_CUDA(cudaMalloc(&memory, bytes));
  GPUFL_CUDA(cudaMemset(memory, 0, bytes));
  return memory;
}

float* pinned_memory(size_t bytes) {
  float* memory = nullptr;
  GPUFL_CUDA(cudaMallocHost(&memory, bytes));
  std::memset(memory, 1, bytes);
  return memory;
}

int multiprocessors() {
  int count = 0;
  GPUFL_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return count;
}

// Runs code of the host's own for so long.
[[gnu::noinline]] void prepare_batch(microseconds duration) {
  const auto end = Clock::now() + duration;
  while (Clock::now() < end) {
  }
}

void idle_host_code() {
  float* const values = device_memory();
  for (int step = 0; step < 20; ++step) {
    work<<<1, kBlock>>>(values, kRoundsOfMs / 10);
    prepare_batch(milliseconds(4));
  }
}

void idle_after_wait() {
  float* const values = device_memory();
  for (int step = 0; step < 200; ++step) {
    work<<<1, kBlock>>>(values, kRoundsOfMs / 20);
    GPUFL_CUDA(cudaDeviceSynchronize());
    prepare_batch(microseconds(100));
  }
}

// Everything is launched at once, and code of the host stands in the stream between kernels.
void idle_queued() {
  float* const values = device_memory();
  cudaStream_t stream = nullptr;
  GPUFL_CUDA(cudaStreamCreate(&stream));
  for (int step = 0; step < 20; ++step) {
    work<<<1, kBlock, 0, stream>>>(values, kRoundsOfMs / 4);
    GPUFL_CUDA(cudaLaunchHostFunc(
        stream, [](void*) { std::this_thread::sleep_for(milliseconds(2)); }, nullptr));
  }
  GPUFL_CUDA(cudaStreamSynchronize(stream));
}

// As an interpreter launches: 20 us of its own for each kernel of a microsecond.
void launch_bound() {
  float* const values = device_memory();
  for (int i = 0; i < 800; ++i) {
    work<<<1, kBlock>>>(values, 1);
    prepare_batch(microseconds(20));
  }
}

// The waits are most of the loop.
[[gnu::noinline]] void train(float* values) {
  for (int step = 0; step < 60; ++step) {
    for (int i = 0; i < 4; ++i) work<<<1, kBlock>>>(values, kRoundsOfMs / 4);
    GPUFL_CUDA(cudaDeviceSynchronize());
  }
}
void in_loop_sync() { train(device_memory()); }

void copy_both_ways(float* on_device, float* on_host, int times) {
  for (int i = 0; i < times; ++i) {
    GPUFL_CUDA(cudaMemcpyAsync(on_device, on_host, kLargeBytes, cudaMemcpyHostToDevice));
    GPUFL_CUDA(cudaMemcpyAsync(on_host, on_device, kLargeBytes, cudaMemcpyDeviceToHost));
  }
  GPUFL_CUDA(cudaDeviceSynchronize());
}

void pageable_copies() {
  std::vector<float> pageable(kLargeBytes / sizeof(float), 1.0F);
  float* const on_device = device_memory(kLargeBytes);
  copy_both_ways(on_device, pageable.data(), 6);
  copy_both_ways(on_device, pinned_memory(kLargeBytes), 2);  // what the bus can do
}

void small_copies() {
  constexpr size_t kCopies = 1200, kValues = 1024;
  float* const on_host = pinned_memory(kCopies * kValues * sizeof(float));
  float* const on_device = device_memory(kCopies * kValues * sizeof(float));
  work<<<1, kBlock>>>(on_device, 1);
  for (size_t i = 0; i < kCopies; ++i) {
    GPUFL_CUDA(cudaMemcpy(on_device + i * kValues, on_host + i * kValues, kValues * sizeof(float),
                          cudaMemcpyHostToDevice));
  }
}

void unoverlapped_copies() {
  float* const on_host = pinned_memory(kLargeBytes);
  float* const on_device = device_memory(kLargeBytes);
  for (int step = 0; step < 20; ++step) {
    GPUFL_CUDA(cudaMemcpyAsync(on_device, on_host, kLargeBytes, cudaMemcpyHostToDevice));
    work<<<multiprocessors(), kBlock>>>(on_device, kRoundsOfMs * 3 / 2);
  }
}

void allocation_in_loop() {
  for (int step = 0; step < 60; ++step) {
    float* memory = nullptr;
    GPUFL_CUDA(cudaMalloc(&memory, kLargeBytes));
    work<<<1, kBlock>>>(memory, kRoundsOfMs / 20);
    GPUFL_CUDA(cudaFree(memory));
  }
}

void low_occupancy() {
  constexpr int kTileBytes = 100 << 10, kThreads = 128;
  GPUFL_CUDA(cudaFuncSetAttribute(tiled, cudaFuncAttributeMaxDynamicSharedMemorySize, kTileBytes));
  float* const values = device_memory();
  for (int i = 0; i < 20; ++i) {
    tiled<<<8 * multiprocessors(), kThreads, kTileBytes>>>(values, kRoundsOfMs);
  }
}

void register_spill() {
  float* const values = device_memory();
  for (int i = 0; i < 20; ++i) spilling<<<2 * multiprocessors(), 1024>>>(values, 2000);
}

// An eighth more blocks than the GPU holds at once.
void tail_effect() {
  float* const values = device_memory();
  int blocks = 0;
  GPUFL_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, work, kBlock, 0));
  const int grid = multiprocessors() * blocks * 9 / 8;
  for (int i = 0; i < 20; ++i) work<<<grid, kBlock>>>(values, kRoundsOfMs / 4);
}

void partial_wave() {
  float* const values = device_memory();
  for (int i = 0; i < 20; ++i) work<<<16, kBlock>>>(values, kRoundsOfMs * 2);
}

void work_for(float* values, milliseconds duration) {
  const auto end = Clock::now() + duration;
  while (Clock::now() < end) {
    work<<<multiprocessors(), kBlock>>>(values, 4 * kRoundsOfMs);
    GPUFL_CUDA(cudaDeviceSynchronize());
  }
}

void memory_nearly_full() {
  float* const values = device_memory();
  size_t free = 0, total = 0;
  GPUFL_CUDA(cudaMemGetInfo(&free, &total));
  void* rest = nullptr;
  GPUFL_CUDA(cudaMalloc(&rest, free - (size_t{512} << 20)));
  work_for(values, milliseconds(400));
}

// Steady work; it is the GPU's clock that was set lower.
void clock_drop() { work_for(device_memory(), milliseconds(800)); }

// Started for two ranks: the second has three times the work.
void rank_imbalance() {
  const char* const rank = std::getenv("RANK");
  float* const values = device_memory();
  const int steps = rank != nullptr && std::strcmp(rank, "1") == 0 ? 60 : 20;
  for (int i = 0; i < steps; ++i) work<<<multiprocessors(), kBlock>>>(values, kRoundsOfMs);
  GPUFL_CUDA(cudaDeviceSynchronize());
}

// Ends as a process does that the kernel kills for its memory, with work under way.
void trace_losses() {
  float* const values = device_memory();
  work_for(values, milliseconds(1500));
  for (int i = 0; i < 20; ++i) work<<<1, kBlock>>>(values, kRoundsOfMs);
  std::raise(SIGKILL);
}

// The driver reports it, and the context is of no use any more.
void xid_errors() {
  float* const values = device_memory();
  work_for(values, milliseconds(100));
  write_to<<<1, 1>>>(reinterpret_cast<float*>(16));
  const cudaError_t status = cudaDeviceSynchronize();
  if (status == cudaSuccess) std::exit(2);
  std::fprintf(stderr, "mistakes: as it should be: %s\n", cudaGetErrorString(status));
  std::this_thread::sleep_for(milliseconds(500));
}

const std::map<std::string, void (*)()> kMistakes = {
    {"idle_host_code", idle_host_code},
    {"idle_after_wait", idle_after_wait},
    {"idle_queued", idle_queued},
    {"launch_bound", launch_bound},
    {"in_loop_sync", in_loop_sync},
    {"pageable_copies", pageable_copies},
    {"small_copies", small_copies},
    {"unoverlapped_copies", unoverlapped_copies},
    {"allocation_in_loop", allocation_in_loop},
    {"low_occupancy", low_occupancy},
    {"register_spill", register_spill},
    {"tail_effect", tail_effect},
    {"partial_wave", partial_wave},
    {"memory_nearly_full", memory_nearly_full},
    {"clock_drop", clock_drop},
    {"rank_imbalance", rank_imbalance},
    {"trace_losses", trace_losses},
    {"xid_errors", xid_errors},
};

}  // namespace

int main(int argc, char** argv) {
  const auto mistake = argc == 2 ? kMistakes.find(argv[1]) : kMistakes.end();
  if (mistake == kMistakes.end()) {
    std::fprintf(stderr, "usage: mistakes NAME\n");
    return 64;
  }
  mistake->second();
  // Of what was launched without a wait; after an error that is final there is none.
  (void)cudaDeviceSynchronize();
  return 0;
}
