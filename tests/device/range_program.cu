// SPDX-License-Identifier: Apache-2.0
// What counters by scope are tried on: kernels whose warps and additions are known by construction,
// in scopes. Its session is that of the library that is injected.
//
//   range_program counts SECONDS             scopes "small" and "large", in turns
//   range_program iterations REPEAT WARMUP   a benchmark "gemm"; prints how often its body ran
//   range_program beside SECONDS             a scope "work"; another thread launches in "other"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/device/cuda_program.cuh"

namespace {

using namespace gpufl::device_test;
using Clock = std::chrono::steady_clock;

constexpr int kBlocks = 264;
constexpr int kThreads = 256;
constexpr int kAdditions = 16;

// __fadd_rn is never fused with a multiplication, so each is one instruction of a thread.
template <int kName>
__global__ void add(float* sums, float step) {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = sums[place];
#pragma unroll
  for (int i = 0; i < kAdditions; ++i) sum = __fadd_rn(sum, step);
  sums[place] = sum;
}

float* make_sums() {
  float* sums = nullptr;
  REQUIRE_CUDA(cudaMalloc(&sums, kBlocks * kThreads * sizeof(float)));
  REQUIRE_CUDA(cudaMemset(sums, 0, kBlocks * kThreads * sizeof(float)));
  return sums;
}

template <int kName>
void launch(int count, float* sums, cudaStream_t stream = nullptr) {
  for (int i = 0; i < count; ++i) add<kName><<<kBlocks, kThreads, 0, stream>>>(sums, 1);
}

template <typename Round>
void repeat_for(double seconds, Round round) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) round();
}

void run_counts(double seconds) {
  float* sums = make_sums();
  repeat_for(seconds, [&] {
    GFL_SCOPE("small") { launch<1>(100, sums); }
    launch<0>(7, sums);  // in no scope
    GFL_SCOPE("large") { launch<2>(200, sums); }
    synchronize();
  });
}

void run_iterations(int repeat, int warmup) {
  float* sums = make_sums();
  int bodies = 0;
  const auto meta = gpufl::ScopeMeta{}
                        .setRepeat(static_cast<uint32_t>(repeat))
                        .setWarmup(static_cast<uint32_t>(warmup));
  GFL_BENCH("gemm", meta) {
    ++bodies;
    launch<3>(50, sums);
  };
  synchronize();
  std::printf("bodies %d\n", bodies);
}

void run_beside(double seconds) {
  float* sums = make_sums();
  std::atomic<bool> ends{false};
  std::thread other([&] {
    float* own = make_sums();
    cudaStream_t stream = nullptr;
    REQUIRE_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    while (!ends) {
      GFL_SCOPE("other") {
        launch<5>(20, own, stream);
        REQUIRE_CUDA(cudaStreamSynchronize(stream));
      }
    }
  });
  repeat_for(seconds, [&] {
    GFL_SCOPE("work") { launch<4>(100, sums); }
    synchronize();
  });
  ends = true;
  other.join();
}

}  // namespace

int main(int argc, char** argv) {
  gpufl::InitOptions options;
  options.app_name = "range_program";
  if (!gpufl::init(options)) std::fprintf(stderr, "range_program: nothing records\n");
  const bool has_seconds = argc == 3;
  if (has_seconds && std::strcmp(argv[1], "counts") == 0) {
    run_counts(std::atof(argv[2]));
  } else if (argc == 4 && std::strcmp(argv[1], "iterations") == 0) {
    run_iterations(std::atoi(argv[2]), std::atoi(argv[3]));
  } else if (has_seconds && std::strcmp(argv[1], "beside") == 0) {
    run_beside(std::atof(argv[2]));
  } else {
    std::fprintf(stderr, "usage: range_program counts|beside SECONDS | iterations REPEAT WARMUP\n");
    return 64;
  }
  gpufl::shutdown();
  return 0;
}
