// SPDX-License-Identifier: Apache-2.0
// Called with a folder, traces launches there whose insides warpscope records, and gives their
// captures to the session: 100 by a copy on the host, 10 by the pointer on the GPU, of kernels from
// a few microseconds to some milliseconds, on a stream of the program's own. Ends with 1 where a
// capture was not taken, with 2 where CUDA failed.

#include <gpufl/gpufl.hpp>

#include <cstdio>

#include "examples/warpscope/device_capture.cuh"
#include "tests/device/cuda_program.cuh"

namespace {

constexpr uint32_t kGroups = 2;
constexpr uint32_t kThreads = kGroups * 32;
constexpr uint32_t kRecords = 16;
constexpr uint32_t kRounds = 4;

__device__ void spin(uint64_t duration_ns) {
  uint64_t begin = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < duration_ns);
}

__global__ void profiled(const __grid_constant__ ws::Capture capture, uint64_t span_ns) {
  const uint32_t group = threadIdx.x / 32;
  ws::Profiler<true> p;
  p.init(capture, group, threadIdx.x % 32 == 0);
  for (uint32_t i = 0; i < kRounds; ++i) {
    WS_REGION(p, group);
    spin(span_ns);
  }
  p.finalize();
}

bool is_taken(gpufl::WarpscopeStatus status) {
  if (status == gpufl::WarpscopeStatus::Recorded) return true;
  std::fprintf(stderr, "not recorded: %s\n", gpufl::to_string(status));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  gpufl::device_test::start_session(argv[1]);
  const uint32_t blocks = ws_example::multiprocessors();
  ws::CaptureLayout layout;
  layout.num_blocks = blocks;
  layout.num_groups = kGroups;
  layout.max_records = kRecords;
  ws::Names names;
  names.kernel = "profiled";
  names.events = {{0, "produce"}, {1, "consume"}};
  names.groups = {{0, "producer"}, {1, "consumer"}};
  cudaStream_t stream = nullptr;
  REQUIRE_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  bool are_taken = true;
  for (uint32_t i = 0; i < 110; ++i) {
    const uint64_t span_ns = 500u << (i % 10);
    layout.launch_id = i + 1;
    const std::vector<uint64_t> empty = ws::make_capture(layout, names);
    ws_example::DeviceArray<uint64_t> words(empty.size());
    words.upload(empty);
    const ws::Capture argument = ws::capture_at(words.data(), empty.data() + layout.num_slots());
    const gpufl::WarpscopeCapture capture;
    profiled<<<blocks, kThreads, 0, stream>>>(argument, span_ns);
    REQUIRE_CUDA(cudaGetLastError());
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    if (i < 100) {
      const std::vector<uint64_t> copied = words.download();
      are_taken &= is_taken(capture.record(copied.data(), copied.size()));
    } else {
      are_taken &= is_taken(capture.recordDevice(words.data(), words.size()));
    }
  }
  gpufl::shutdown();
  return are_taken ? 0 : 1;
}
