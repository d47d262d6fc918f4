// SPDX-License-Identifier: Apache-2.0
// Softmax of rows as a pipeline of three groups: one thread loads rows by the bulk copy engine,
// four warps compute in place, one thread stores them. Recorded into wire format v1 with a side
// block, so that nothing has to be repeated when it is decoded.
//   softmax [--rows N] [--blocks N] [--output FOLDER]

#include <cmath>
#include <string>

#include "examples/warpscope/device_capture.cuh"
#include "examples/warpscope/hopper.cuh"

namespace {

constexpr int kColumns = 4096, kStages = 4;
constexpr int kComputeThreads = 128, kThreads = kComputeThreads + 64;
constexpr uint32_t kRowBytes = kColumns * sizeof(float);

enum : uint32_t { kComputer = 0, kLoader = 1, kStorer = 2, kNumGroups = 3 };
enum : uint32_t { kWait = 0, kLoad = 1, kCompute = 2, kStore = 3 };

struct Shared {
  alignas(128) float rows[kStages][kColumns];
  uint64_t loaded[kStages], computed[kStages], stored[kStages];
  float partial[kComputeThreads / 32];
};

__device__ uint32_t payload(uint32_t round) {
  return round % kStages | (round / kStages & 1) << 16;
}

template <typename Combine>
__device__ float combine_threads(float value, Shared& shared, Combine&& combine) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffff, value, offset));
  }
  asm volatile("bar.sync 1, %0;" ::"n"(kComputeThreads) : "memory");  // `partial` is free again
  if (threadIdx.x % 32 == 0) shared.partial[threadIdx.x / 32] = value;
  asm volatile("bar.sync 1, %0;" ::"n"(kComputeThreads) : "memory");
  value = shared.partial[0];
  for (int i = 1; i < kComputeThreads / 32; ++i) value = combine(value, shared.partial[i]);
  return value;
}

__device__ void compute_row(float* row, Shared& shared) {
  float top = -INFINITY;
  for (int i = threadIdx.x; i < kColumns; i += kComputeThreads) top = fmaxf(top, row[i]);
  top = combine_threads(top, shared, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int i = threadIdx.x; i < kColumns; i += kComputeThreads) {
    row[i] = __expf(row[i] - top);
    sum += row[i];
  }
  sum = combine_threads(sum, shared, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < kColumns; i += kComputeThreads) row[i] /= sum;
}

template <typename P>
__global__ void __launch_bounds__(kThreads)
    softmax(const float* in, float* out, int rows, const __grid_constant__ ws::Capture capture) {
  extern __shared__ __align__(128) char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      hopper::barrier_init(&shared.loaded[stage], 1);
      hopper::barrier_init(&shared.computed[stage], kComputeThreads);
      hopper::barrier_init(&shared.stored[stage], 1);
    }
    hopper::barrier_init_fence();
  }
  __syncthreads();
  const int warp = threadIdx.x / 32;
  const uint32_t group = warp < 4 ? kComputer : warp == 4 ? kLoader : kStorer;
  if (group != kComputer && threadIdx.x % 32 != 0) return;
  P p;
  p.init(capture, group, group != kComputer || threadIdx.x == 0);
  uint32_t round = 0;
  for (int row = blockIdx.x; row < rows; row += gridDim.x, ++round) {
    const uint32_t stage = round % kStages, phase = round / kStages & 1;
    float* const staged = shared.rows[stage];
    // Work is marked as ended before others are told, or their waits would end earlier than it.
    p.tile(round);
    if (group == kLoader) {
      p.start(ws::Ev{kWait}, payload(round) ^ 1u << 16);
      hopper::barrier_wait(&shared.stored[stage], phase ^ 1);
      p.end(ws::Ev{kWait}, payload(round) ^ 1u << 16);
      p.start(ws::Ev{kLoad}, payload(round));
      hopper::barrier_expect(&shared.loaded[stage], kRowBytes);
      hopper::load_bytes(staged, in + int64_t{row} * kColumns, kRowBytes, &shared.loaded[stage]);
      p.end(ws::Ev{kLoad}, payload(round));
    } else if (group == kComputer) {
      p.start(ws::Ev{kWait}, payload(round));
      hopper::barrier_wait(&shared.loaded[stage], phase);
      p.end(ws::Ev{kWait}, payload(round));
      p.start(ws::Ev{kCompute}, payload(round));
      compute_row(staged, shared);
      hopper::fence_for_copies();
      p.end(ws::Ev{kCompute}, payload(round));
      hopper::barrier_arrive(&shared.computed[stage]);
    } else {
      p.start(ws::Ev{kWait}, payload(round));
      hopper::barrier_wait(&shared.computed[stage], phase);
      p.end(ws::Ev{kWait}, payload(round));
      p.start(ws::Ev{kStore}, payload(round));
      hopper::store_bytes(out + int64_t{row} * kColumns, staged, kRowBytes);
      hopper::store_wait<0>();
      p.end(ws::Ev{kStore}, payload(round));
      hopper::barrier_arrive(&shared.stored[stage]);
    }
  }
  p.finalize();
}

double largest_error(const std::vector<float>& in, const std::vector<float>& out) {
  double worst = 0;
  for (size_t first = 0; first < in.size(); first += kColumns) {
    double top = -INFINITY, sum = 0;
    for (int i = 0; i < kColumns; ++i) top = std::fmax(top, in[first + i]);
    for (int i = 0; i < kColumns; ++i) sum += std::exp(in[first + i] - top);
    for (int i = 0; i < kColumns; ++i) {
      const double error = std::abs(out[first + i] / (std::exp(in[first + i] - top) / sum) - 1);
      worst = error <= worst ? worst : error;  // keeps what is not a number
    }
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  int rows = 4096, blocks_wanted = 0;
  std::string output = ".";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--rows") rows = std::atoi(argv[i + 1]);
    if (std::string(argv[i]) == "--blocks") blocks_wanted = std::atoi(argv[i + 1]);
    if (std::string(argv[i]) == "--output") output = argv[i + 1];
  }
  if (argc % 2 == 0 || rows <= 0 || blocks_wanted < 0) {
    std::fprintf(stderr, "usage: %s [--rows N] [--blocks N] [--output FOLDER]\n", argv[0]);
    return 64;
  }
  std::vector<float> in(static_cast<size_t>(rows) * kColumns);
  for (size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<float>(i * 2654435761u % 4096) / 512.0f;
  }
  ws_example::DeviceArray<float> from(in.size()), to(in.size());
  from.upload(in);
  to.fill_bytes(0xff);

  const uint32_t blocks =
      blocks_wanted != 0 ? static_cast<uint32_t>(blocks_wanted) : ws_example::multiprocessors();
  ws::CaptureLayout layout;
  layout.num_blocks = blocks;
  layout.num_groups = kNumGroups;
  layout.max_records = (static_cast<uint32_t>(rows) + blocks - 1) / blocks * 4 + 2;
  layout.extension = true;
  ws::Names names;
  names.kernel = "softmax";
  names.events = {{kWait, "wait"}, {kLoad, "load"}, {kCompute, "compute"}, {kStore, "store"}};
  names.groups = {{kComputer, "compute"}, {kLoader, "load"}, {kStorer, "store"}};
  names.waits = {kWait};
  names.flows = {{kLoad, kWait}, {kCompute, kWait}, {kStore, kWait}};
  ws_example::DeviceCapture capture(layout, names);

  const auto kernel = softmax<ws::Profiler<true>>;
  WS_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                               cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)));
  kernel<<<blocks, kThreads, sizeof(Shared)>>>(from.data(), to.data(), rows, capture.argument());
  WS_CUDA(cudaGetLastError());
  WS_CUDA(cudaDeviceSynchronize());

  const double error = largest_error(in, to.download());
  const std::vector<uint64_t> words = capture.words();
  const ws::Trace trace = ws::decode_capture(words);
  ws_example::print_problems(trace);
  ws::print_durations(trace);
  const std::string dump = output + "/softmax.wscap";
  if (!ws::write_dump(words.data(), words.size(), dump) ||
      !ws::write_perfetto_trace(trace, output + "/softmax.perfetto-trace")) {
    std::fprintf(stderr, "%s: cannot write to %s\n", argv[0], output.c_str());
    return 2;
  }
  std::printf("%zu spans in %s; largest relative error %.2e\n", trace.spans.size(), dump.c_str(),
              error);
  return error <= 1e-5 ? 0 : 1;
}
