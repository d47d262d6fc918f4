// SPDX-License-Identifier: Apache-2.0
// What PC sampling is tried on: kernels that wait for one thing each, and threads that launch
// without a pause, plain kernels and graphs. Recorded by what is injected: nothing is linked.
//
//   sampling_program stalls SECONDS
//   sampling_program threads COUNT SECONDS [graphs]    a line of figures: see print_figures()

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

#define REQUIRE(call)                                                                        \
  do {                                                                                       \
    const cudaError_t status = (call);                                                       \
    if (status != cudaSuccess) {                                                             \
      std::fprintf(stderr, "sampling_program: %s: %s\n", #call, cudaGetErrorString(status)); \
      std::_Exit(3);                                                                         \
    }                                                                                        \
  } while (false)

constexpr int kBlocks = 264;
constexpr int kThreads = 256;

// Each load waits for the one before: "long scoreboard".
__global__ void latency_bound(const unsigned* next, unsigned* out, int steps) {
  unsigned place = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < steps; ++i) place = next[place];
  out[blockIdx.x * blockDim.x + threadIdx.x] = place;
}

// More loads and stores than the memory takes.
__global__ void bandwidth_bound(const float4* from, float4* to, size_t count) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    float4 value = from[i];
    value.x += 1;
    to[i] = value;
  }
}

// Independent products, enough of them to keep the pipe busy.
__global__ void compute_bound(float* out, int steps) {
  float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
  for (int i = 0; i < steps; ++i) {
    a = a * 1.0001f + 0.5f;
    b = b * 1.0002f + 0.5f;
    c = c * 1.0003f + 0.5f;
    d = d * 1.0004f + 0.5f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

// One warp works, the others wait for it.
__global__ void barrier_bound(float* out, int steps) {
  __shared__ float shared;
  float sum = 0;
  for (int i = 0; i < steps; ++i) {
    if (threadIdx.x < 32) {
      float value = sum + i;
      for (int k = 0; k < 64; ++k) value = value * 1.0001f + 0.5f;
      if (threadIdx.x == 0) shared = value;
    }
    __syncthreads();
    sum += shared;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void count_up(unsigned long long* counter) {
  if (threadIdx.x == 0 && blockIdx.x == 0) ++*counter;
}

template <typename T>
T* allocate(size_t count) {
  T* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, count * sizeof(T)));
  REQUIRE(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}

void run_stalls(double seconds) {
  constexpr size_t kWords = size_t{1} << 24;
  constexpr size_t kVectors = size_t{1} << 25;
  std::vector<unsigned> order(kWords);
  for (size_t i = 0; i < kWords; ++i)
    order[i] = static_cast<unsigned>((i * 1'000'003 + 7) % kWords);
  auto* next = allocate<unsigned>(kWords);
  REQUIRE(cudaMemcpy(next, order.data(), kWords * sizeof(unsigned), cudaMemcpyHostToDevice));
  auto* words = allocate<unsigned>(kBlocks * kThreads);
  auto* from = allocate<float4>(kVectors);
  auto* to = allocate<float4>(kVectors);
  auto* floats = allocate<float>(kBlocks * kThreads);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    latency_bound<<<kBlocks, kThreads>>>(next, words, 400);
    bandwidth_bound<<<kBlocks * 4, kThreads>>>(from, to, kVectors);
    compute_bound<<<kBlocks, kThreads>>>(floats, 40'000);
    barrier_bound<<<kBlocks, kThreads>>>(floats, 1'000);
    REQUIRE(cudaDeviceSynchronize());
  } while (Clock::now() < end);
}

struct Figures {
  uint64_t launches = 0;
  int64_t longest_ns = 0;
};

cudaGraphExec_t capture(cudaStream_t stream, unsigned long long* counter) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < 8; ++i) count_up<<<1, 32, 0, stream>>>(counter);
  REQUIRE(cudaStreamEndCapture(stream, &graph));
  REQUIRE(cudaGraphInstantiate(&exec, graph, 0));
  REQUIRE(cudaGraphDestroy(graph));
  return exec;
}

// Launches without a pause; every result is checked.
void launch(std::atomic<bool>& ends, bool with_graphs, Figures& figures) {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  auto* counter = allocate<unsigned long long>(1);
  auto* floats = allocate<float>(kBlocks * kThreads);
  unsigned long long owed = 0;
  // One from before any session, which stays; one that is captured anew now and then.
  cudaGraphExec_t first = with_graphs ? capture(stream, counter) : nullptr;
  cudaGraphExec_t newest = with_graphs ? capture(stream, counter) : nullptr;
  for (uint64_t n = 1; !ends; ++n) {
    const auto began = Clock::now();
    if (with_graphs && n % 8 == 0) {
      REQUIRE(cudaGraphLaunch(n % 16 == 0 ? first : newest, stream));
      owed += 8;
    } else if (n % 64 != 1) {
      count_up<<<1, 32, 0, stream>>>(counter);
      ++owed;
    } else {
      compute_bound<<<132, 128, 0, stream>>>(floats, 200);
    }
    REQUIRE(cudaGetLastError());
    const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began);
    figures.longest_ns = std::max<int64_t>(figures.longest_ns, took.count());
    ++figures.launches;
    if (n % 512 == 0) REQUIRE(cudaStreamSynchronize(stream));
    if (with_graphs && n % 8'192 == 0) {
      REQUIRE(cudaStreamSynchronize(stream));
      REQUIRE(cudaGraphExecDestroy(newest));
      newest = capture(stream, counter);
    }
  }
  unsigned long long counted = 0;
  REQUIRE(cudaMemcpyAsync(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost, stream));
  REQUIRE(cudaStreamSynchronize(stream));
  if (counted != owed) {
    std::fprintf(stderr, "sampling_program: the GPU counted %llu, not %llu\n", counted, owed);
    std::_Exit(4);
  }
  // With more and more streams launches take longer and longer.
  for (cudaGraphExec_t exec : {first, newest}) {
    if (exec != nullptr) REQUIRE(cudaGraphExecDestroy(exec));
  }
  REQUIRE(cudaFree(counter));
  REQUIRE(cudaFree(floats));
  REQUIRE(cudaStreamDestroy(stream));
}

void print_figures(const std::vector<Figures>& all, double seconds) {
  Figures sum;
  for (const Figures& one : all) {
    sum.launches += one.launches;
    sum.longest_ns = std::max(sum.longest_ns, one.longest_ns);
  }
  std::printf("launches %llu ns_a_launch %.0f longest_ns %lld\n",
              static_cast<unsigned long long>(sum.launches),
              seconds * 1e9 * static_cast<double>(all.size()) / static_cast<double>(sum.launches),
              static_cast<long long>(sum.longest_ns));
}

// A line of figures a second, so that speed can be seen to change.
void run_threads(int count, double seconds, bool with_graphs) {
  REQUIRE(cudaFree(nullptr));
  std::vector<Figures> figures(static_cast<size_t>(count));
  for (double left = seconds; left > 0; left -= 1) {
    std::atomic<bool> ends{false};
    std::vector<std::thread> threads;
    const auto began = Clock::now();
    std::fill(figures.begin(), figures.end(), Figures{});
    for (Figures& one : figures) threads.emplace_back([&] { launch(ends, with_graphs, one); });
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, 1.0)));
    ends = true;
    for (std::thread& thread : threads) thread.join();
    print_figures(figures, std::chrono::duration<double>(Clock::now() - began).count());
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 3 && std::strcmp(argv[1], "stalls") == 0) {
    run_stalls(std::atof(argv[2]));
  } else if (argc >= 4 && std::strcmp(argv[1], "threads") == 0) {
    run_threads(std::atoi(argv[2]), std::atof(argv[3]), argc > 4);
  } else {
    std::fprintf(stderr,
                 "usage: sampling_program stalls SECONDS | threads COUNT SECONDS [graphs]\n");
    return 2;
  }
  return 0;
}
