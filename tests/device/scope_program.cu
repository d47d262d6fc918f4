// SPDX-License-Identifier: Apache-2.0
// scope_program FOLDER SCENARIO: launches whose scope and thread are known beforehand, traced into
// a session in FOLDER. A kernel's number of threads tells which scope it was launched in.

#include <unistd.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/device/cuda_program.cuh"

namespace {

using namespace gpufl::device_test;

void launch(int count, int threads_a_block, cudaStream_t stream = nullptr) {
  for (int i = 0; i < count; ++i) empty<<<1, threads_a_block, 0, stream>>>();
}

// 4 without a scope (32), 3 + 2 in "outer" (64), 5 in "inner" (96), which is inside it; 6 of a
// graph that is captured in "capture" and launched in "replay" (128).
void nested() {
  launch(4, 32);
  GFL_SCOPE("outer") {
    launch(3, 64);
    GFL_SCOPE("inner") { launch(5, 96); }
    launch(2, 64);
  }
  cudaStream_t stream;
  cudaGraph_t captured;
  cudaGraphExec_t executable;
  REQUIRE_CUDA(cudaStreamCreate(&stream));
  GFL_SCOPE("capture") {
    REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch(6, 128, stream);
    REQUIRE_CUDA(cudaStreamEndCapture(stream, &captured));
    REQUIRE_CUDA(cudaGraphInstantiate(&executable, captured, 0));
  }
  GFL_SCOPE("replay") { REQUIRE_CUDA(cudaGraphLaunch(executable, stream)); }
  synchronize();
}

// Four threads with a stream each, 500 launches in a scope of its own; prints their thread ids and
// scopes.
void threads() {
  std::vector<std::thread> all;
  std::mutex mutex;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([i, &mutex] {
      const std::string name = "worker " + std::to_string(i);
      cudaStream_t stream;
      REQUIRE_CUDA(cudaStreamCreate(&stream));
      GFL_SCOPE(name) { launch(500, 32, stream); }
      REQUIRE_CUDA(cudaStreamSynchronize(stream));
      const std::lock_guard lock(mutex);
      std::printf("%d %s\n", static_cast<int>(gettid()), name.c_str());
    });
  }
  for (std::thread& thread : all) thread.join();
}

// A thread without a scope of its own, while only this one has any open: 7 launches (32). Then
// while two have: 9 launches (64), of which nobody can tell.
void inherited() {
  const auto elsewhere = [](const std::function<void()>& work) { std::thread(work).join(); };
  GFL_SCOPE("step") {
    elsewhere([] { launch(7, 32); });
    elsewhere([&] {
      GFL_SCOPE("other") {
        elsewhere([] { launch(9, 64); });
      }
    });
  }
  synchronize();
}

}  // namespace

int main(int argc, char** argv) {
  return run_scenario(argc, argv,
                      {{"nested", nested}, {"threads", threads}, {"inherited", inherited}});
}
