// SPDX-License-Identifier: Apache-2.0
// The smallest use: four warps that wait and work, in wire format v1, decoded in C++.
//   toy [trace.json [dump]]

#include <cuda_runtime.h>
#include <warpscope_host.hpp>

#include <cstdio>
#include <vector>

#include "toy.cuh"

namespace {

constexpr uint32_t kBlocks = 8, kGroups = 4, kMaxRecords = 64;

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
