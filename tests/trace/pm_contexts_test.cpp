// SPDX-License-Identifier: Apache-2.0
// Hardware counters over time in contexts that CUDA's driver is asked about: over the stand-ins of
// libcupti and libcuda.
#include <cuda.h>
#include <dlfcn.h>

#include <gtest/gtest.h>

#include "tests/standin/cuda/cuda_standin.hpp"
#include "tests/trace/pm_sampling_fixture.hpp"

namespace gpufl::backend {
namespace {

using format::Kind;
namespace column = format::pm_sample_column;

constexpr uint64_t kFirst = 1, kOnSecondGpu = 2;

class PmContexts : public PmSamplingFixture {
 protected:
  void SetUp() override {
    // Before the tracer asks for libcuda: it finds the one that is loaded.
    void* cuda = dlopen(GPUFL_STANDIN_CUDA, RTLD_NOW);
    ASSERT_NE(cuda, nullptr) << dlerror();
    reinterpret_cast<decltype(&::cuInit)>(dlsym(cuda, "cuInit"))(0);
    describe_gpu_ = reinterpret_cast<standin::CudaDescribeGpuFunction*>(
        dlsym(cuda, "cuda_standin_describe_gpu"));
    describe_gpu_({.count = 2, .on_second = kOnSecondGpu});
    PmSamplingFixture::SetUp();
  }
  void TearDown() override {
    PmSamplingFixture::TearDown();
    describe_gpu_({});
  }
  void begin_on_both() {
    ASSERT_TRUE(start(options_).available);
    for (const uint64_t context : {kFirst, kOnSecondGpu}) {
      callbacks_->resource_of(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, context);
    }
  }
  bool has_samples_of(int64_t device) {
    for (const auto& row : rows(Kind::PmSample)) {
      if (row[column::kDevice] == device) return true;
    }
    return false;
  }

  standin::CudaDescribeGpuFunction* describe_gpu_ = nullptr;
};

TEST_F(PmContexts, TwoGpusAreSampledAtOnce) {
  begin_on_both();
  EXPECT_TRUE(drain_until([&] { return has_samples_of(0) && has_samples_of(1); }));
  EXPECT_EQ(pm_->enabled(), 2u);
  finish();
  EXPECT_EQ(pm_->started(), 2u);
  EXPECT_EQ(pm_->stopped(), 2u);
  EXPECT_EQ(pm_->enabled(), 0u);
  EXPECT_EQ(lacking(), "");
}

TEST_F(PmContexts, AGpuThatRefusesLeavesTheOtherAlone) {
  pm_->refuse(0, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  begin_on_both();
  ASSERT_TRUE(drain_until([&] { return has_samples_of(1) && !lacking().empty(); }));
  EXPECT_EQ(lacking(), "permission_denied");
  EXPECT_EQ(lacking("got"), "in part");
  EXPECT_TRUE(lacking("detail").starts_with("CUDA device 0: cuptiPmSamplingEnable("))
      << lacking("detail");
  EXPECT_EQ(tracer_->status().counting, "counting");
  finish();
  EXPECT_FALSE(has_samples_of(0));
  EXPECT_EQ(sink_.lines[Kind::Capability].size(), 1u) << "once";
}

TEST_F(PmContexts, WhereAllGpusRefuseItEnds) {
  pm_->refuse(0, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  pm_->refuse(1, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  begin_on_both();
  ASSERT_TRUE(drain_until([&] { return sink_.lines[Kind::Capability].size() == 2; }));
  EXPECT_EQ(sink_.lines[Kind::Capability].back()["got"].as_string(), "Trace");
  EXPECT_EQ(tracer_->status().counting, "permission_denied");
  finish();
}

}  // namespace
}  // namespace gpufl::backend
