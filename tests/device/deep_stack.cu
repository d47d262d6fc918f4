// SPDX-License-Identifier: Apache-2.0
// deep_stack FOLDER: launches a kernel below sixty calls of a function that calls itself, compiled
// without frame pointers, so that only unwind tables lead up again.

#include "tests/device/cuda_program.cuh"

namespace {

using namespace gpufl::device_test;

constexpr int kDepth = 60;

}  // namespace

// Frames of different sizes, and work after the call, so that it is no tail call.
[[gnu::noinline]] int descend(int depth, volatile char* above) {
  volatile char room[256];
  room[depth] = above[0];
  if (depth == 1) {
    empty<<<1, 32>>>();
    return room[1];
  }
  return descend(depth - 1, room) + room[depth];
}

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  gpufl::InitOptions options;
  options.enable_stack_trace = true;
  start_session(argv[1], options);
  volatile char top = 1;
  const int sum = descend(kDepth, &top);
  synchronize();
  gpufl::shutdown();
  return sum == 0 ? 1 : 0;
}
