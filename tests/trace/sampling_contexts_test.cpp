// SPDX-License-Identifier: Apache-2.0
// Recordings beside graphs, in contexts that CUDA's driver is asked about: over the stand-ins of
// libcupti and libcuda.
#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/standin/cuda/cuda_standin.hpp"
#include "tests/trace/sampling_fixture.hpp"

namespace gpufl::backend {
namespace {

constexpr uint64_t kPrimary = 1, kOther = 2;

std::mutex g_mutex;
std::vector<uint64_t> g_waited_for;  // contexts

class SamplingContexts : public SamplingFixture {
 protected:
  void SetUp() override {
    // Before the tracer asks for libcuda: it finds the one that is loaded.
    void* cuda = dlopen(GPUFL_STANDIN_CUDA, RTLD_NOW);
    ASSERT_NE(cuda, nullptr) << dlerror();
    reinterpret_cast<decltype(&::cuInit)>(dlsym(cuda, "cuInit"))(0);
    describe_gpu_ = reinterpret_cast<standin::CudaDescribeGpuFunction*>(
        dlsym(cuda, "cuda_standin_describe_gpu"));
    describe({});
    SamplingFixture::SetUp();
    g_waited_for.clear();
  }
  void TearDown() override {
    SamplingFixture::TearDown();
    describe_gpu_({});
  }

  void describe(standin::CudaGpu gpu) {
    gpu.on_synchronize = [](uint64_t context) {
      const std::lock_guard lock(g_mutex);
      g_waited_for.push_back(context);
    };
    describe_gpu_(gpu);
  }
  static std::vector<uint64_t> waited_for() {
    const std::lock_guard lock(g_mutex);
    return g_waited_for;
  }

  standin::CudaDescribeGpuFunction* describe_gpu_ = nullptr;
};

TEST_F(SamplingContexts, APrimaryContextInUseIsAttachedAtOnceAndNotTwice) {
  describe({.primary = kPrimary});
  ASSERT_TRUE(start({.pc_sampling = kQuick}).available);
  EXPECT_EQ(sampling_->enabled(), 1u);
  callbacks_->resource_of(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, kPrimary);
  EXPECT_TRUE(drain_until([&] { return tracer_->status().sampling->windows >= 1; }));
  EXPECT_EQ(sampling_->enabled(), 1u);
  finish();
  EXPECT_EQ(sampling_->enabled(), 0u);
}

TEST_F(SamplingContexts, WithoutMemoryForItNothingIsSampled) {
  describe({.primary = kPrimary, .free_bytes = uint64_t{95} << 20});
  ASSERT_TRUE(start({.pc_sampling = kQuick}).available);
  ASSERT_TRUE(drain_until([&] { return lacking() == "no_device_memory"; }));
  EXPECT_EQ(sampling_->enabled(), 0u);
  standin_->launch({});
  EXPECT_EQ(finish().kernel_records, 1u);
  sink_ = {};
  describe({.primary = kPrimary, .free_bytes = uint64_t{96} << 20});
  ASSERT_TRUE(start({.pc_sampling = kQuick}).available);
  EXPECT_TRUE(drain_until([&] { return tracer_->status().sampling->windows >= 1; }));
}

// CUDA does not list the contexts that there are.
TEST_F(SamplingContexts, AContextThatWasMadeBeforeIsNotSampledAndTheSessionSaysSo) {
  describe({.primary = kPrimary});
  ASSERT_TRUE(start({.pc_sampling = kQuick}).available);
  standin_->launch({});
  drain();
  EXPECT_EQ(lacking(), "");
  callbacks_->resource_of(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, kOther + 1);
  callbacks_->set_context(kOther + 1);
  standin_->launch({});
  drain();
  EXPECT_EQ(lacking(), "") << "one that is made meanwhile is attached";
  callbacks_->set_context(kOther);
  standin_->launch({});
  ASSERT_TRUE(drain_until([&] { return lacking() == "context_made_before"; }));
  EXPECT_EQ(sink_.lines[format::Kind::Capability].front()["got"].as_string(), "in part");
  EXPECT_EQ(events("sampling_refused").size(), 1u);
  finish();
  sink_ = {};
  ASSERT_TRUE(resume({.pc_sampling = kQuick}).available);
  standin_->launch({});
  drain();
  EXPECT_EQ(lacking(), "") << "once in a session";
}

// A thread that was between two calls when the GPUs fell idle.
TEST_F(SamplingContexts, WhatIsLaunchedOnceItIsQuietIsWaitedForAsWell) {
  describe({.primary = kPrimary});
  ASSERT_TRUE(start().available);
  standin_->launch({.graph_kernels = 2});
  drain();
  tracer_->stop();
  EXPECT_EQ(waited_for().size(), 1u);
  LaunchGate& gate = CallWatch::instance().launch_gate();
  std::thread program([&] { standin_->launch({.graph_kernels = 2}); });
  ASSERT_TRUE(base::eventually([&] { return gate.parked() == 1; }));
  drain();
  program.join();
  EXPECT_EQ(waited_for().size(), 2u);
  EXPECT_EQ(standin_->finalized(), 1u);
}

TEST_F(SamplingContexts, BesideGraphsNobodyEntersACallWhenCuptiIsGivenUp) {
  const auto surprises = [&] {
    standin_->reset(kCupti130);
    EXPECT_TRUE(start().available);
    standin_->launch({.graph_kernels = 2});
    drain();
    tracer_->stop();
    standin_->delay_entry(3'000);
    std::atomic<bool> begins{false};
    std::thread program([&] {
      begins = true;
      standin_->launch({});
    });
    while (!begins) std::this_thread::yield();
    drain();
    program.join();
    tracer_.reset();
    return standin_->surprised();
  };
  describe({.primary = kPrimary});
  // A machine that is busy may leave a thread there for longer than anybody is waited for.
  bool was_nobody_surprised = false;
  for (int tries = 0; tries < 5 && !was_nobody_surprised; ++tries) {
    was_nobody_surprised = surprises() == 0;
  }
  EXPECT_TRUE(was_nobody_surprised);
}

TEST_F(SamplingContexts, GraphsInContextsThatTheProgramMadeAreWaitedFor) {
  for (const bool was_made_before : {false, true}) {
    g_waited_for.clear();
    ASSERT_TRUE(start().available);
    if (!was_made_before) callbacks_->resource_of(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, kOther);
    callbacks_->set_context(was_made_before ? kOther : 0);
    standin_->launch({.graph_kernels = 2});
    drain();
    finish();
    EXPECT_EQ(waited_for(), std::vector{kOther});
  }
  EXPECT_EQ(standin_->finalized(), 2u);
}

TEST_F(SamplingContexts, WhereAContextCannotBeWaitedForCuptiStays) {
  describe({.primary = kPrimary, .broken = kOther});
  ASSERT_TRUE(start().available);
  callbacks_->set_context(kOther);
  standin_->launch({.graph_kernels = 2});
  drain();
  finish();
  EXPECT_EQ(standin_->finalized(), 0u);
  EXPECT_EQ(events("stays_attached").size(), 1u);
}

TEST_F(SamplingContexts, AContextThatIsGoneIsNotAskedAbout) {
  describe({.primary = kPrimary, .broken = kOther});
  ASSERT_TRUE(start().available);
  callbacks_->set_context(kOther);
  standin_->launch({.graph_kernels = 2});
  callbacks_->resource_of(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, kOther);
  drain();
  finish();
  EXPECT_EQ(waited_for(), std::vector{kPrimary});
  EXPECT_EQ(standin_->finalized(), 1u);
}

}  // namespace
}  // namespace gpufl::backend
