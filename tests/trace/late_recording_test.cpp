// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/trace/sampling_fixture.hpp"

// Recordings that begin in a program which uses CUDA already.
namespace gpufl::backend {
namespace {

class LateRecording : public SamplingFixture {
 protected:
  void SetUp() override {
    // Before the tracer asks for libcuda: it finds the one that is loaded.
    void* cuda = dlopen(GPUFL_STANDIN_CUDA, RTLD_NOW);
    ASSERT_NE(cuda, nullptr) << dlerror();
    reinterpret_cast<decltype(&::cuInit)>(dlsym(cuda, "cuInit"))(0);
    SamplingFixture::SetUp();
  }
};

// Under a thread that makes a graph, CUPTI crashes.
TEST_F(LateRecording, RecordsBeginWhileNobodyIsInACall) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> program;
  for (int i = 0; i < 4; ++i) {
    program.emplace_back([&] {
      while (!ends) sampling_->launch([](void*) { std::this_thread::yield(); }, nullptr);
    });
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(start().available);
    (void)finish();
  }
  ends = true;
  for (std::thread& thread : program) thread.join();
  EXPECT_EQ(sampling_->disturbed(), 0u);
}

// Graphs may be running that were launched before anybody looked.
TEST_F(LateRecording, ThatEndsAtOnceForcesNothingOut) {
  ASSERT_TRUE(start().available);
  standin_->launch({.runs_on = true});
  drain();
  EXPECT_EQ(finish().kernel_records, 0u);
}

}  // namespace
}  // namespace gpufl::backend
