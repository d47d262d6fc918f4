// SPDX-License-Identifier: Apache-2.0
// bubbles FILE: two groups of a block that take turns. Nothing is recorded while the first waits
// for the second, nor of a third of the second's turn. The capture goes into FILE, which `gpufl
// import` takes.

#include <string>

#include "examples/warpscope/device_capture.cuh"

namespace {

enum : uint32_t { kProducer = 0, kConsumer = 1, kNumGroups = 2 };
enum : uint32_t { kProduce = 0, kWait = 1, kConsume = 2 };
constexpr uint32_t kBlocks = 8, kRounds = 12;

__device__ void spin(uint32_t ns) {
  const uint32_t begin = ws::globaltimer_lo();
  while (ws::globaltimer_lo() - begin < ns) {
  }
}

// Both groups wait here for each other.
__device__ void meet() { asm volatile("bar.sync 1, 64;" ::: "memory"); }

__global__ void take_turns(const __grid_constant__ ws::Capture capture) {
  const uint32_t group = threadIdx.x / 32;
  ws::Profiler<true> p;
  p.init(capture, group, threadIdx.x % 32 == 0);
  for (uint32_t round = 0; round < kRounds; ++round) {
    if (group == kProducer) {
      {
        WS_REGION(p, kProduce);
        spin(2'000);
      }
      meet();
      meet();
    } else {
      {
        WS_REGION(p, kWait);
        meet();
      }
      {
        WS_REGION(p, kConsume);
        spin(4'000);
      }
      spin(3'000);  // what nobody records
      meet();
    }
  }
  p.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 64;
  }
  ws::CaptureLayout layout;
  layout.num_blocks = kBlocks;
  layout.num_groups = kNumGroups;
  layout.max_records = kRounds * 4 + 2;
  ws::Names names;
  names.kernel = "take_turns";
  names.events = {{kProduce, "produce"}, {kWait, "wait"}, {kConsume, "consume"}};
  names.groups = {{kProducer, "producer"}, {kConsumer, "consumer"}};
  names.waits = {kWait};
  names.flows = {{kProduce, kWait}};
  ws_example::DeviceCapture capture(layout, names);
  take_turns<<<kBlocks, kNumGroups * 32>>>(capture.argument());
  WS_CUDA(cudaGetLastError());
  WS_CUDA(cudaDeviceSynchronize());
  const std::vector<uint64_t> words = capture.words();
  if (!ws::write_dump(words.data(), words.size(), argv[1])) {
    std::fprintf(stderr, "%s: cannot write %s\n", argv[0], argv[1]);
    return 2;
  }
  return 0;
}
