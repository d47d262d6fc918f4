// SPDX-License-Identifier: Apache-2.0
// Why there is no PC sampling, asked before it begins: over the stand-ins of libcupti, libcuda and
// NVML, in a session and by the doctor.

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "backend/diagnosis.hpp"
#include "backend/nvidia/cupti/sampling_support.hpp"
#include "backend/nvidia/nvidia_probe.hpp"
#include "tests/standin/cuda/cuda_standin.hpp"
#include "tests/trace/sampling_fixture.hpp"

namespace gpufl::backend {
namespace {

using Refusal = standin::CuptiStandinRefusal;

constexpr const char* kQuestion = "cuptiProfilerDeviceSupported";

class SamplingSupport : public SamplingFixture {
 protected:
  void SetUp() override {
    // Before the tracer asks for libcuda: it finds the one that is loaded.
    void* cuda = dlopen(GPUFL_STANDIN_CUDA, RTLD_NOW);
    ASSERT_NE(cuda, nullptr) << dlerror();
    describe_gpu_ = reinterpret_cast<standin::CudaDescribeGpuFunction*>(
        dlsym(cuda, "cuda_standin_describe_gpu"));
    describe_gpu_({});
    reinterpret_cast<decltype(&::cuInit)>(dlsym(cuda, "cuInit"))(0);
    setenv("GPUFL_NVML_LIBRARY", GPUFL_STANDIN_NVML, 1);
    setenv("GPUFL_NVML_STANDIN", "gpus=1", 1);
    SamplingFixture::SetUp();
    standin_->fail("cuptiProfilerInitialize", 0);
    standin_->fail(kQuestion, 0);
  }

  // A session traces without samples, and says why and what to do.
  void expect_session_says(const std::string& reason) {
    begin();
    standin_->launch({});
    ASSERT_TRUE(drain_until([&] { return !lacking().empty(); }));
    const base::Json line = sink_.lines[format::Kind::Capability].front();
    EXPECT_EQ(line["reason"].as_string(), reason);
    EXPECT_EQ(line["got"].as_string(), "Trace");
    EXPECT_NE(line["detail"].as_string(), "");
    EXPECT_NE(line["hint"].as_string(), "");
    EXPECT_EQ(sampling_->enabled(), 0u);
    standin_->launch({});
    const format::Ledger ledger = finish();
    EXPECT_EQ(ledger.kernel_records, 2u);
    EXPECT_EQ(ledger.sampling_windows.value_or(0), 0u);
    EXPECT_EQ(ledger.completeness_of_trace(), format::Completeness::Complete);
    sink_ = {};
  }
  void expect_doctor_says(const std::string& reason, const std::string& detail = "GPU 0: ") {
    if (!counter_access("").available) return;  // which it says first
    const Diagnosis diagnosis = diagnose();
    EXPECT_TRUE(diagnosis.trace.available);
    EXPECT_EQ(diagnosis.sampling.reason, reason);
    EXPECT_EQ(diagnosis.sampling.available, reason.empty());
    EXPECT_EQ(diagnosis.sampling.detail.starts_with(detail), !reason.empty());
    EXPECT_EQ(diagnosis.sampling.hint.empty(), reason.empty());
  }
  void expect_both_say(const std::string& reason) {
    expect_doctor_says(reason);
    expect_session_says(reason);
  }
  void expect_samples() {
    begin();
    EXPECT_TRUE(drain_until([&] { return tracer_->status().sampling->windows >= 1; }));
    EXPECT_EQ(lacking(), "");
    expect_doctor_says("");
  }

  standin::CudaDescribeGpuFunction* describe_gpu_ = nullptr;
};

TEST(CounterAccess, ForAdministratorsOnly) {
  char pattern[] = "/tmp/gpufl-counters-XXXXXX";
  const std::filesystem::path root = mkdtemp(pattern);
  const auto write = [&](const std::string& path, const char* text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  };
  write("proc/self/status", "CapEff:\t0000000000000000\n");
  EXPECT_TRUE(counter_access(root.string()).available);  // where the driver does not say
  write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  const Availability refused = counter_access(root.string());
  EXPECT_EQ(refused.reason, "permission_denied");
  EXPECT_NE(refused.detail, "");
  EXPECT_NE(refused.hint, "");
  write("proc/self/status", "CapEff:\t0000000000200000\n");
  EXPECT_TRUE(counter_access(root.string()).available);
  std::filesystem::remove_all(root);
}

TEST_F(SamplingSupport, ConfidentialComputing) {
  sampling_->refuse(Refusal::ConfidentialComputing);
  expect_both_say("confidential_computing");
}

TEST_F(SamplingSupport, AVirtualGpuThatCannotBeSampledOrMayNot) {
  for (const Refusal refusal : {Refusal::VirtualGpu, Refusal::VirtualGpuOff}) {
    sampling_->refuse(refusal);
    expect_both_say("vgpu");
  }
}

TEST_F(SamplingSupport, AGpuThatCuptiDoesNotSample) {
  for (const Refusal refusal :
       {Refusal::Architecture, Refusal::Sli, Refusal::Mining, Refusal::Unnamed}) {
    sampling_->refuse(refusal);
    expect_both_say("unsupported_gpu");
  }
}

TEST_F(SamplingSupport, WithoutAGpuTheDoctorDoesNotPromiseIt) {
  describe_gpu_({.count = 0});
  expect_doctor_says("no_gpu", "CUDA does not start");
}

TEST_F(SamplingSupport, OneGpuThatRefusesDoesNotEndSamplingOfOthers) {
  describe_gpu_({.count = 2});
  standin_->fail("cuptiPCSamplingEnable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  begin();
  ASSERT_TRUE(drain_until([&] { return lacking() == "permission_denied"; }));
  EXPECT_EQ(sink_.lines[format::Kind::Capability].front()["got"].as_string(), "in part");
  EXPECT_EQ(events("sampling_refused").size(), 1u);
  standin_->fail("cuptiPCSamplingEnable", 0);
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  EXPECT_TRUE(drain_until([&] { return tracer_->status().sampling->windows >= 1; }));
  EXPECT_TRUE(events("sampling_ended").empty());
}

TEST_F(SamplingSupport, Mps) {
  describe_gpu_({.is_under_mps = true});
  expect_both_say("mps");
}

TEST_F(SamplingSupport, AMigInstanceThatSharesItsGpuInstance) {
  constexpr standin::CudaGpu kInstance{.uuid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  describe_gpu_(kInstance);
  setenv("GPUFL_NVML_STANDIN", "gpus=1 mig=0:3", 1);
  expect_doctor_says("");
  setenv("GPUFL_NVML_STANDIN", "gpus=1 mig=0:3:4", 1);
  expect_doctor_says("shared_mig_instance", "GPU 1: ");
  devices_.shared = {"MIG-00000000-0000-0000-0001-000000000000"};
  expect_session_says("shared_mig_instance");
  describe_gpu_({});  // another GPU of the same machine
  expect_samples();
}

TEST_F(SamplingSupport, ACuptiWithoutIt) {
  use_cupti(GPUFL_STANDIN_CUPTI_OLD);
  expect_doctor_says("cupti_too_old", "CUPTI 13.0");
  expect_session_says("cupti_too_old");
}

TEST_F(SamplingSupport, OlderVersionsOfCuptiHaveAShorterQuestion) {
  const CuptiDeviceSupport question{};
  const auto* const begin = reinterpret_cast<const char*>(&question);
  for (const int* end : {&question.api, &question.wsl}) {
    sampling_->reset();
    sampling_->set_support_size(static_cast<uint32_t>(reinterpret_cast<const char*>(end) - begin));
    sampling_->refuse(Refusal::VirtualGpu);
    expect_both_say("vgpu");
  }
}

TEST_F(SamplingSupport, AQuestionThatHasNoAnswerRefusesNothing) {
  sampling_->refuse(Refusal::VirtualGpu);
  for (const char* function : {"cuptiProfilerInitialize", kQuestion}) {
    standin_->fail(function, CUPTI_ERROR_UNKNOWN);
    expect_samples();
    finish();
    standin_->fail(function, 0);
  }
  const CudaDriver driver;
  EXPECT_TRUE(sampling_support(CuptiApi{}, driver, {}, 0).available);
}

TEST_F(SamplingSupport, IsNotAskedWhileALaunchIsUnderWay) {
  ASSERT_TRUE(start({.pc_sampling = kQuick}).available);
  HeldCall launch([&](void (*inside)(void*), void* data) { sampling_->launch(inside, data); });
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  drain();
  launch.release();
  EXPECT_TRUE(drain_until([&] { return tracer_->status().sampling->windows >= 1; }));
  EXPECT_EQ(sampling_->disturbed(), 0u);
}

}  // namespace
}  // namespace gpufl::backend
