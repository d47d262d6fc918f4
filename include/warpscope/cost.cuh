// SPDX-License-Identifier: Apache-2.0
#pragma once

#if !defined(__CUDACC__)
#error "warpscope/cost.cuh has kernels of its own: compile it by nvcc, or by clang as CUDA"
#endif

#include <cstdint>
#include <utility>
#include <vector>

#include <warpscope/capture.hpp>
#include <warpscope/fast_profiler.cuh>
#include <warpscope/measured.hpp>

// What recording costs, measured by the program that records, on the current GPU: one event, for a
// capture's error bars, and a whole launch against the same without a profiler. For nvcc, on the
// host's side. Both wait for the GPU; what fails is told as CUDA's own status.
namespace ws {

struct EventCost {
  cudaError_t status = cudaSuccess;
  Measured ns;  // for each event

  // For CaptureLayout::event_cost_ps; 0: not known.
  uint32_t picoseconds() const {
    return status == cudaSuccess && ns.median > 0 ? static_cast<uint32_t>(ns.median * 1e3) : 0;
  }
};

struct Slowdown {
  cudaError_t status = cudaSuccess;
  Measured ratio;  // profiled / clean
  Measured profiled_ms;
  Measured clean_ms;
};

namespace cost {

inline constexpr uint32_t kGroupThreads = 128;
inline constexpr uint32_t kRegions = 1'000;
inline constexpr uint32_t kEvents = 2 * kRegions;
inline constexpr int kRounds = 15;

template <typename P>
inline constexpr auto kPlacement = CaptureLayout::Placement::Strided;
template <bool kEnable, Clock kClock, bool kExtended, uint32_t kRecords>
inline constexpr auto kPlacement<FastProfiler<kEnable, kClock, kExtended, kRecords>> =
    CaptureLayout::Placement::Lanes;

template <typename P>
__global__ void regions(const __grid_constant__ Capture capture) {
  extern __shared__ __align__(16) char memory[];
  auto* const rings = reinterpret_cast<typename P::Ring*>(memory);
  const uint32_t group = threadIdx.x / kGroupThreads;
  P p;
  p.init(capture, rings[group], group, threadIdx.x % kGroupThreads == 0);
  // Something to go round for: without it compilers drop the loop of the profiler that does
  // nothing.
  uint32_t x = threadIdx.x;
  const auto step = [&] {
    x = x * 1664525u + 1013904223u;
    asm volatile("" : "+r"(x));
  };
#pragma unroll 1
  for (uint32_t i = 0; i < kRegions; ++i) {
    p.start(Ev{0});
    step();
    p.end(Ev{0});
    step();
  }
  p.finalize();
  if (x == 1) capture.words[0] = 0;
}

class Stopwatch {
 public:
  Stopwatch() {
    status_ = cudaEventCreate(&begin_);
    if (status_ == cudaSuccess) status_ = cudaEventCreate(&end_);
  }
  ~Stopwatch() {
    if (begin_ != nullptr) cudaEventDestroy(begin_);
    if (end_ != nullptr) cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  cudaError_t status() const { return status_; }

  // Milliseconds of the GPU for what `launch` puts into the stream.
  template <typename Launch>
  double time_ms(Launch&& launch, cudaStream_t stream) {
    float ms = 0;
    keep(cudaEventRecord(begin_, stream));
    std::forward<Launch>(launch)();
    keep(cudaGetLastError());
    keep(cudaEventRecord(end_, stream));
    keep(cudaEventSynchronize(end_));
    keep(cudaEventElapsedTime(&ms, begin_, end_));
    return ms;
  }

 private:
  void keep(cudaError_t status) {
    if (status_ == cudaSuccess) status_ = status;
  }
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  cudaError_t status_ = cudaSuccess;
};

}  // namespace cost

// One event of P where every multiprocessor runs a block of `groups` groups, each with a leader
// among 128 threads, whose events follow on one another without work in between. Some milliseconds,
// and up to 32 KiB of the GPU's memory for each group.
template <typename P>
EventCost measure_event_cost(uint32_t groups = 1, cudaStream_t stream = nullptr) {
  EventCost result;
  const auto ok = [&](cudaError_t status) {
    if (result.status == cudaSuccess) result.status = status;
    return result.status == cudaSuccess;
  };
  int gpu = 0, multiprocessors = 0;
  if (!ok(cudaGetDevice(&gpu)) ||
      !ok(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, gpu))) {
    return result;
  }
  CaptureLayout layout;
  layout.num_blocks = static_cast<uint32_t>(multiprocessors);
  layout.num_groups = groups;
  layout.max_records = cost::kEvents + 2;
  layout.placement = cost::kPlacement<P>;
  layout.extension = P::kTakesPayloads;
  const std::vector<uint64_t> words = make_capture(layout);
  if (words.empty()) {
    result.status = cudaErrorInvalidValue;  // no group, or too many
    return result;
  }
  const size_t bytes = words.size() * sizeof(uint64_t);
  uint64_t* memory = nullptr;
  if (!ok(cudaMalloc(reinterpret_cast<void**>(&memory), bytes))) return result;
  if (ok(cudaMemcpyAsync(memory, words.data(), bytes, cudaMemcpyHostToDevice, stream))) {
    const Capture capture = capture_at(memory, words.data() + layout.num_slots());
    const dim3 blocks(layout.num_blocks), threads(groups * cost::kGroupThreads);
    const auto with = [&] {
      cost::regions<P><<<blocks, threads, groups * sizeof(typename P::Ring), stream>>>(capture);
    };
    const auto without = [&] {
      cost::regions<DisabledProfiler><<<blocks, threads, groups, stream>>>(capture);
    };
    cost::Stopwatch watch;
    std::vector<double> costs;
    for (int round = 0; round < cost::kRounds + 1; ++round) {
      const double with_ms = watch.time_ms(with, stream);
      const double without_ms = watch.time_ms(without, stream);
      // The first round loads the code.
      if (round != 0) costs.push_back((with_ms - without_ms) * 1e6 / cost::kEvents);
    }
    if (ok(watch.status())) result.ns = summarize(std::move(costs));
  }
  ok(cudaFree(memory));
  return result;
}

// Times what both put into `stream`, alternately: the same work with a profiler and without. Each
// is called `repeats` + 1 times, the first of them to warm up.
template <typename LaunchProfiled, typename LaunchClean>
Slowdown compare_with_clean(LaunchProfiled&& profiled, LaunchClean&& clean, int repeats = 20,
                            cudaStream_t stream = nullptr) {
  cost::Stopwatch watch;
  std::vector<double> ratios, profiled_ms, clean_ms;
  for (int round = 0; round < repeats + 1 && watch.status() == cudaSuccess; ++round) {
    double with = 0, without = 0;
    // Who goes first changes with every round.
    if (round % 2 == 0) with = watch.time_ms(profiled, stream);
    without = watch.time_ms(clean, stream);
    if (round % 2 != 0) with = watch.time_ms(profiled, stream);
    if (round == 0 || without <= 0) continue;
    ratios.push_back(with / without);
    profiled_ms.push_back(with);
    clean_ms.push_back(without);
  }
  Slowdown result;
  result.status = watch.status();
  if (result.status != cudaSuccess) return result;
  result.ratio = summarize(std::move(ratios));
  result.profiled_ms = summarize(std::move(profiled_ms));
  result.clean_ms = summarize(std::move(clean_ms));
  return result;
}

}  // namespace ws
