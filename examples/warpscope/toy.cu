// SPDX-License-Identifier: Apache-2.0
// The smallest use: four warps that wait and work, in wire format v1, decoded in C++.
//   toy [trace.json [dump]]

#include <cuda_runtime.h>
#include <warpscope.cuh>
#include <warpscope_host.hpp>

#include <cstdio>
#include <vector>

namespace {

enum : uint32_t { EvWait = 0, EvWork = 1 };
constexpr uint32_t kBlocks = 8, kGroups = 4, kMaxRecords = 64, kRounds = 6;

__device__ void spin(uint32_t ns) {
  const uint32_t begin = ws::globaltimer_lo();
  while (ws::globaltimer_lo() - begin < ns) {
  }
}

__global__ void toy(uint64_t* prof, uint32_t stride, uint32_t num_groups, uint32_t num_blocks,
                    uint32_t max_rec) {
  ws::Profiler<true> p;  // <false> compiles to nothing
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  p.init(prof, stride, warp, num_groups, num_blocks, lane == 0, max_rec);
  for (uint32_t round = 0; round < kRounds; ++round) {
    {
      WS_REGION(p, EvWait);
      __syncthreads();
    }
    {
      WS_REGION(p, EvWork);
      spin(1000 * (warp + 1));
    }
  }
  p.finalize();
}

bool is_ok(cudaError_t status, const char* what) {
  if (status != cudaSuccess) std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  return status == cudaSuccess;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const path = argc > 1 ? argv[1] : "trace.json";
  const uint32_t stride = kBlocks * kGroups;
  std::vector<uint64_t> words(1 + stride * kMaxRecords);
  const size_t bytes = words.size() * sizeof(uint64_t);
  uint64_t* buffer = nullptr;
  if (!is_ok(cudaMalloc(reinterpret_cast<void**>(&buffer), bytes), "cudaMalloc")) return 2;
  if (!is_ok(cudaMemset(buffer, 0, bytes), "cudaMemset")) return 2;
  toy<<<kBlocks, kGroups * 32>>>(buffer, stride, kGroups, kBlocks, kMaxRecords);
  if (!is_ok(cudaMemcpy(words.data(), buffer, bytes, cudaMemcpyDeviceToHost), "toy")) return 2;
  cudaFree(buffer);
  const std::vector<std::string> events = {"wait", "work"};
  const ws::Trace trace = ws::decode(words);
  for (const ws::Problem& problem : trace.problems) std::printf("%s\n", problem.text.c_str());
  ws::print_durations(trace, events);
  if (!ws::write_chrome_trace(trace, events, {"warp 0", "warp 1", "warp 2", "warp 3"}, path)) {
    std::fprintf(stderr, "cannot write %s\n", path);
    return 2;
  }
  if (argc > 2 && !ws::write_dump(words.data(), words.size(), argv[2])) {
    std::fprintf(stderr, "cannot write %s\n", argv[2]);
    return 2;
  }
  std::printf("%zu spans in %s: open it on https://ui.perfetto.dev\n", trace.spans.size(), path);
  return trace.spans.size() == size_t{kBlocks} * kGroups * kRounds * 2 ? 0 : 1;
}
