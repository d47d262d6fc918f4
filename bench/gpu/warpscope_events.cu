// SPDX-License-Identifier: Apache-2.0
// What one in-kernel event costs: regions in a loop, with a profiler and with that profiler
// compiled out, alternately. One leader for each group of 128 threads; 1 block to one on every
// multiprocessor; one group a block and four. About 10 seconds.
//
// Fast path and v1 are compared as one program would use them: the same kernel, the same
// ws::Capture with its window, policy, counts and side block. Beside them, to read both by, without
// a bar:
// - v1, init as published: ws::Profiler as existing programs call it, with neither policy nor
// window
//   nor side block. In this loop, on an H200, it costs less than the fast path.
// - plain v1: records and fences alone, written down as the format says; no cap, no counts.
// - the timer read alone: what no profiler can go below, used at once and used later.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bench/gpu/cuda_work.cuh"
#include "bench/report.hpp"
#include "examples/warpscope/device_capture.cuh"

namespace {

namespace bench = gpufl::bench;

constexpr uint32_t kGroupThreads = 128;
constexpr uint32_t kMaxGroups = 4;
constexpr int kRegions = 2'000;
constexpr int kEvents = 2 * kRegions;
constexpr int kLaunches = 4;
constexpr int kRounds = 24;
static_assert(kRounds >= bench::kMinPairs);

// The floor: a leader that reads the timer and stores nothing. What it read is used, at once or one
// event later, or compilers leave the reading out.
template <bool kIsCompared>
class TimerOnly : public ws::DisabledProfiler {
 public:
  __device__ void init(const ws::Capture& capture, Ring&, uint32_t, bool is_leader) {
    words_ = capture.words;
    is_leader_ = is_leader;
  }
  __device__ void start(ws::Ev) { read(); }
  __device__ void end(ws::Ev) { read(); }
  __device__ void finalize() {
    if (is_leader_ && (times_ ^ time_) == kNever) words_[0] = kNever;
  }

 private:
  __device__ void read() {
    if (!is_leader_) return;
    times_ ^= time_;
    time_ = ws::globaltimer_lo();
    if (kIsCompared && time_ == kNever) words_[0] = kNever;
  }
  static constexpr uint32_t kNever = 0x12345677;  // nanoseconds: ticks of the timer are even
  uint64_t* words_ = nullptr;
  uint32_t times_ = 0, time_ = 0;
  bool is_leader_ = false;
};

enum class FencePlace { BeforeEach, BehindBegin };

// The least that wire format v1 asks for: no cap, no counts. Its fences are before every record, or
// behind a begin and before an end.
template <FencePlace kFence>
class PlainV1 : public ws::DisabledProfiler {
 public:
  __device__ void init(const ws::Capture& capture, Ring&, uint32_t group, bool is_leader) {
    const uint32_t lane = ws::device::block_index() * capture.num_groups + group;
    next_ = capture.words + 1 + lane;
    stride_ = capture.write_stride;
    tag_ = lane << 12;
    is_leader_ = is_leader;
  }
  __device__ void start(ws::Ev event) {
    if (kFence == FencePlace::BeforeEach) __threadfence_block();
    record(event, ws::kBegin);
    if (kFence == FencePlace::BehindBegin) __threadfence_block();
  }
  __device__ void end(ws::Ev event) {
    __threadfence_block();
    record(event, ws::kEnd);
  }

 private:
  __device__ void record(ws::Ev event, uint32_t type) {
    if (!is_leader_) return;
    ws::device::store_global(next_, tag_ | event.id << 2 | type, ws::globaltimer_lo());
    next_ += stride_;
  }
  uint64_t* next_ = nullptr;
  uint32_t stride_ = 0, tag_ = 0;
  bool is_leader_ = false;
};

// ws::Profiler by the init of the published package.
class PublishedV1 : public ws::Profiler<true> {
 public:
  __device__ void init(const ws::Capture& capture, Ring&, uint32_t group, bool is_leader) {
    ws::Profiler<true>::init(capture.words, capture.write_stride, group, capture.num_groups,
                             capture.num_blocks, is_leader, capture.max_records);
  }
};

// `gap` operations between events that depend on one another.
template <typename P>
__global__ void regions(const __grid_constant__ ws::Capture capture, int gap, uint32_t* out) {
  __shared__ typename P::Ring rings[kMaxGroups];
  const uint32_t group = threadIdx.x / kGroupThreads;
  P p;
  p.init(capture, rings[group], group, threadIdx.x % kGroupThreads == 0);
  uint32_t x = threadIdx.x;
  const auto work = [&] {
    for (int i = 0; i < gap; ++i) x = x * 1664525u + 1013904223u;
    asm volatile("" : "+r"(x));
  };
#pragma unroll 1
  for (int i = 0; i < kRegions; ++i) {
    p.start(ws::Ev{1});
    work();
    p.end(ws::Ev{1});
    work();
  }
  p.finalize();
  if (x == 1) out[0] = x;
}

struct Shape {
  uint32_t blocks, groups;
  int gap;
};

class Measurement {
 public:
  explicit Measurement(const Shape& shape)
      : shape_(shape),
        out_(1),
        strided_(layout(ws::CaptureLayout::Placement::Strided)),
        in_lanes_(layout(ws::CaptureLayout::Placement::Lanes)) {
    GPUFL_CUDA(cudaEventCreate(&begin_));
    GPUFL_CUDA(cudaEventCreate(&end_));
  }
  ~Measurement() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  // Nanoseconds of the whole kernel, for each event of a lane.
  template <typename P>
  double cost(bool is_in_lanes) {
    const ws::Capture capture = (is_in_lanes ? in_lanes_ : strided_).argument();
    GPUFL_CUDA(cudaEventRecord(begin_));
    for (int i = 0; i < kLaunches; ++i) {
      regions<P>
          <<<shape_.blocks, shape_.groups * kGroupThreads>>>(capture, shape_.gap, out_.data());
    }
    GPUFL_CUDA(cudaEventRecord(end_));
    GPUFL_CUDA(cudaGetLastError());
    GPUFL_CUDA(cudaEventSynchronize(end_));
    float milliseconds = 0;
    GPUFL_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return static_cast<double>(milliseconds) * 1e6 / kLaunches / kEvents;
  }

  // Whether the newest launch left every record.
  bool is_complete(bool is_in_lanes) const {
    const ws::Trace trace = (is_in_lanes ? in_lanes_ : strided_).decode();
    return trace.spans.size() == size_t{shape_.blocks} * shape_.groups * kRegions &&
           trace.problems.empty();
  }

 private:
  ws::CaptureLayout layout(ws::CaptureLayout::Placement placement) const {
    ws::CaptureLayout layout;
    layout.num_blocks = shape_.blocks;
    layout.num_groups = shape_.groups;
    layout.max_records = kEvents + 2;
    layout.placement = placement;
    layout.extension = placement == ws::CaptureLayout::Placement::Lanes;  // v1 knows none
    return layout;
  }

  const Shape shape_;
  ws_example::DeviceArray<uint32_t> out_;
  ws_example::DeviceCapture strided_, in_lanes_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

struct Variant {
  const char* name;
  bool is_in_lanes;
  double (Measurement::*cost)(bool);
};

using V1 = ws::Profiler<true>;
using Fast = ws::FastProfiler<true>;
constexpr Variant kOff = {"off", false, &Measurement::cost<ws::Profiler<false>>};
const Variant kVariants[] = {
    {"timer read alone", false, &Measurement::cost<TimerOnly<false>>},
    {"timer read and compared", false, &Measurement::cost<TimerOnly<true>>},
    {"plain v1", false, &Measurement::cost<PlainV1<FencePlace::BeforeEach>>},
    {"plain v1, fence behind begin", false, &Measurement::cost<PlainV1<FencePlace::BehindBegin>>},
    {"v1, init as published", false, &Measurement::cost<PublishedV1>},
    {"v1", false, &Measurement::cost<V1>},
    {"v1, cycle clock", false, &Measurement::cost<ws::Profiler<true, ws::Clock::Cycles>>},
    {"fast path", true, &Measurement::cost<Fast>},
    {"fast path, cycle clock", true, &Measurement::cost<ws::FastProfiler<true, ws::Clock::Cycles>>},
    {"fast path, extended", true,
     &Measurement::cost<ws::FastProfiler<true, ws::Clock::Globaltimer, true>>},
};
constexpr size_t kPublishedV1 = 4, kV1 = 5, kFast = 7;
constexpr size_t kNumVariants = std::size(kVariants);

std::string described(const Shape& shape) {
  return std::to_string(shape.blocks) + (shape.blocks == 1 ? " block" : " blocks") + " x " +
         std::to_string(shape.groups) + (shape.groups == 1 ? " group" : " groups") +
         (shape.gap == 0 ? "" : ", " + std::to_string(shape.gap) + " operations between");
}

// The fast path against v1 by the same argument, and as published.
struct Ratios {
  bench::Ratio to_v1, to_published_v1;
};

// Every variant against the same loop without, round by round.
Ratios measure(bench::Report& report, const Shape& shape, bool& is_complete) {
  Measurement measurement(shape);
  std::vector<std::vector<double>> costs(kNumVariants);
  std::vector<double> to_v1, to_published_v1;
  for (int round = 0; round < kRounds + 1; ++round) {
    const double off = (measurement.*kOff.cost)(false);
    std::vector<double> now(kNumVariants);
    for (size_t i = 0; i < kNumVariants; ++i) {
      // Who goes first changes with every round.
      const size_t v = round % 2 == 0 ? i : kNumVariants - 1 - i;
      now[v] = (measurement.*kVariants[v].cost)(kVariants[v].is_in_lanes) - off;
    }
    if (round == 0) continue;  // the code is loaded, the clocks rise
    for (size_t v = 0; v < kNumVariants; ++v) costs[v].push_back(now[v]);
    to_v1.push_back(now[kFast] / now[kV1]);
    to_published_v1.push_back(now[kFast] / now[kPublishedV1]);
  }
  for (size_t v = 0; v < kNumVariants; ++v) {
    report.difference(std::string(kVariants[v].name) + ", " + described(shape),
                      bench::summarize_differences(costs[v]), "ns an event");
  }
  for (const size_t v : {kPublishedV1, kV1, kFast}) {
    (measurement.*kVariants[v].cost)(kVariants[v].is_in_lanes);
    is_complete = is_complete && measurement.is_complete(kVariants[v].is_in_lanes);
  }
  return {bench::summarize_ratios(to_v1), bench::summarize_ratios(to_published_v1)};
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report("warpscope_events", argc, argv);
  report.note("gpu", bench::require_gpu());
  report.note("regions", kRegions);
  report.note("launches_a_measurement", kLaunches);
  const uint32_t all = ws_example::multiprocessors();
  bool is_complete = true;
  for (const uint32_t groups : {1u, kMaxGroups}) {
    const double bar = groups == 1 ? 0.7 : 0.55;
    for (const uint32_t blocks : {1u, 8u, all / 4, all / 2, all}) {
      const Shape shape = {blocks, groups, 0};
      const Ratios ratios = measure(report, shape, is_complete);
      report.ratio("fast path / v1, " + described(shape), ratios.to_v1, bench::at_most(bar));
      report.ratio("fast path / v1, init as published, " + described(shape),
                   ratios.to_published_v1);
    }
    const Shape spread = {all, groups, 64};
    const Ratios ratios = measure(report, spread, is_complete);
    report.ratio("fast path / v1, " + described(spread), ratios.to_v1);
    report.ratio("fast path / v1, init as published, " + described(spread), ratios.to_published_v1);
  }
  report.value("captures that lack a record", is_complete ? 0 : 1, "captures", bench::at_most(0));
  return report.finish();
}
