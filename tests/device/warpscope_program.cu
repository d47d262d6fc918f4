// SPDX-License-Identifier: Apache-2.0
// What warpscope_device_test.cpp starts: one scenario, recorded by one profiler, dumped to a file.
//   warpscope_program <scenario> <v1|fast|v1-cycles|fast-cycles> <first|last|both> <file>
// Ends with 1 where something was written outside of the capture, with 2 where CUDA failed.

#include <warpscope/cost.cuh>

#include <map>
#include <memory>
#include <string>

#include "examples/warpscope/device_capture.cuh"
#include "tests/device/warpscope_scenarios.hpp"

namespace {

using namespace ws_device_test;
using ws_example::DeviceArray;

constexpr uint32_t kWarp = 32;

template <ws::Clock kClock>
__device__ uint64_t now() {
  return kClock == ws::Clock::Cycles ? ws::device::clock() : ws::device::globaltimer();
}

// Spans of known length, in units of the clock: their payload is what the thread saw itself. One
// place for all of them, so that short ones tell what the instructions around long ones take.
template <typename P, ws::Clock kClock>
__device__ void spans(P& p) {
  uint64_t length = kShortLength;
#pragma unroll 1
  for (uint32_t i = 0; i < kShortSpans + kLengths * kSpansOfALength; ++i) {
    const ws::Ev event = {i < kShortSpans ? kShort : kKnown};
    if (i == kShortSpans) {
      length = 1'000;
    } else if (i > kShortSpans && (i - kShortSpans) % kSpansOfALength == 0) {
      length *= 10;
    }
    p.start(event);
    const uint64_t begin = now<kClock>();
    uint64_t end = begin;
    while (end - begin < length) end = now<kClock>();
    p.end(event, static_cast<uint32_t>(end - begin));
  }
}

// A number for each record; ranges that overlap, each with the same payload at both ends.
template <typename P>
__device__ void numbered(P& p, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) p.inst(ws::Ev{kNumbered}, i);
}
template <typename P>
__device__ void tokens(P& p) {
  ws::Token before = p.open(ws::Ev{kRange}, 0);
  for (uint32_t i = 1; i < kTokens; ++i) {
    const ws::Token token = p.open(ws::Ev{kRange}, i);
    p.close(before, i - 1);
    before = token;
  }
  p.close(before, kTokens - 1);
}
template <typename P>
__device__ void tiles(P& p) {
  for (uint32_t i = 0; i < kTiles; ++i) {
    p.tile(i);
    p.start(ws::Ev{kTile}, i);
    p.end(ws::Ev{kTile}, i);
  }
}
// Everything, without a word of when: what both profilers have to agree on.
template <typename P>
__device__ void mixed(P& p) {
  for (uint32_t i = 0; i < kMixedRounds; ++i) {
    p.start(ws::Ev{1}, i);
    p.inst(ws::Ev{2});
    const ws::Token token = p.open(ws::Ev{3}, i);
    p.start(ws::Ev{4});
    p.close(token);
    p.end(ws::Ev{4}, 2 * i);
    p.end(ws::Ev{1});
  }
}

// Events and nothing between them.
template <typename P>
__device__ void regions(P& p) {
#pragma unroll 1
  for (uint32_t i = 0; i < kCostRegions; ++i) {
    WS_REGION(p, kShort);
  }
}

template <typename P, ws::Clock kClock>
__global__ void scenario(Scenario which, const __grid_constant__ ws::Capture capture) {
  extern __shared__ __align__(16) char memory[];
  auto* const rings = reinterpret_cast<typename P::Ring*>(memory);
  const uint32_t warp = threadIdx.x / kWarp;
  if (warp < kUnprofiledWarps) return;
  const uint32_t group = warp - kUnprofiledWarps;
  P p;
  p.init(capture, rings[group], group, threadIdx.x % kWarp == 0);
  switch (which) {
    case Scenario::Spans: spans<P, kClock>(p); break;
    case Scenario::Grid:
      p.inst(ws::Ev{kNumbered}, (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x);
      break;
    case Scenario::Overflow: numbered(p, kOverflowRecords); break;
    case Scenario::Concurrent:
    case Scenario::Cluster: numbered(p, kConcurrentRecords); break;
    case Scenario::Tokens: tokens(p); break;
    case Scenario::Window: tiles(p); break;
    case Scenario::Mixed: mixed(p); break;
    case Scenario::Cost: regions(p); break;
  }
  p.finalize();
}

// A capture between words that nothing may touch.
class GuardedCapture {
 public:
  explicit GuardedCapture(const ws::CaptureLayout& layout)
      : layout_(layout), words_(kGuard, kCanary) {
    const std::vector<uint64_t> capture = ws::make_capture(layout, {});
    words_.insert(words_.end(), capture.begin(), capture.end());
    words_.resize(words_.size() + kGuard, kCanary);
    device_ = std::make_unique<DeviceArray<uint64_t>>(words_.size());
    device_->upload(words_);
  }
  ws::Capture argument() const {
    return ws::capture_at(device_->data() + kGuard, words_.data() + kGuard + layout_.num_slots());
  }
  // False when a guard was touched or the file could not be written.
  bool dump(const char* path) const {
    const std::vector<uint64_t> words = device_->download();
    for (size_t i = 0; i < kGuard; ++i) {
      if (words[i] != kCanary || words[words.size() - 1 - i] != kCanary) {
        std::fprintf(stderr, "warpscope_program: guard %zu was overwritten\n", i);
        return false;
      }
    }
    return ws::write_dump(words.data() + kGuard, words.size() - 2 * kGuard, path);
  }

 private:
  static constexpr size_t kGuard = 512;
  static constexpr uint64_t kCanary = 0xdeadbeefcafef00d;
  const ws::CaptureLayout layout_;
  std::vector<uint64_t> words_;
  std::unique_ptr<DeviceArray<uint64_t>> device_;
};

template <typename P, ws::Clock kClock>
bool record(Scenario which, ws::CaptureLayout layout, const char* path) {
  if (which == Scenario::Cost) {
    const ws::EventCost cost = ws::measure_event_cost<P>();
    WS_CUDA(cost.status);
    std::printf("%.2f ns an event, between %.2f and %.2f\n", cost.ns.median, cost.ns.low,
                cost.ns.high);
    layout.event_cost_ps = cost.picoseconds();
  }
  const GuardedCapture capture(layout);
  const bool is_grid = which == Scenario::Grid;
  cudaLaunchConfig_t config = {};
  config.gridDim = is_grid ? dim3(kGridX, kGridY, kGridZ) : dim3(layout.num_blocks);
  config.blockDim = dim3((kUnprofiledWarps + layout.num_groups) * kWarp);
  config.dynamicSmemBytes = layout.num_groups * sizeof(typename P::Ring);
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = kClusterBlocks;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  if (which == Scenario::Cluster) {
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  WS_CUDA(cudaLaunchKernelEx(&config, scenario<P, kClock>, which, capture.argument()));
  WS_CUDA(cudaDeviceSynchronize());
  return capture.dump(path);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Scenario> scenarios = scenario_names();
  const std::map<std::string, ws::CaptureLayout::Policy> policies = {
      {"first", ws::CaptureLayout::Policy::First},
      {"last", ws::CaptureLayout::Policy::Last},
      {"both", ws::CaptureLayout::Policy::Both}};
  if (argc != 5 || scenarios.count(argv[1]) == 0 || policies.count(argv[3]) == 0) return 64;
  const Scenario which = scenarios.at(argv[1]);
  const std::string profiler = argv[2];
  const bool is_fast = profiler.rfind("fast", 0) == 0;
  ws::CaptureLayout layout = layout_of(which, ws_example::multiprocessors());
  layout.policy = policies.at(argv[3]);
  layout.placement =
      is_fast ? ws::CaptureLayout::Placement::Lanes : ws::CaptureLayout::Placement::Strided;
  constexpr ws::Clock kTimer = ws::Clock::Globaltimer, kCycles = ws::Clock::Cycles;
  bool is_ok = false;
  if (profiler == "v1") {
    is_ok = record<ws::Profiler<true>, kTimer>(which, layout, argv[4]);
  } else if (profiler == "fast") {
    is_ok = record<ws::FastProfiler<true, kTimer, true, 32>, kTimer>(which, layout, argv[4]);
  } else if (profiler == "v1-cycles") {
    is_ok = record<ws::Profiler<true, kCycles>, kCycles>(which, layout, argv[4]);
  } else if (profiler == "fast-cycles") {
    is_ok = record<ws::FastProfiler<true, kCycles, true, 32>, kCycles>(which, layout, argv[4]);
  } else {
    return 64;
  }
  return is_ok ? 0 : 1;
}
