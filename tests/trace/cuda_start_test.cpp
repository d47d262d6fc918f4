// SPDX-License-Identifier: Apache-2.0
// A tracer that waits for the program to use CUDA: over stand-ins of libcuda and libcupti.

#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include "backend/recording_sink.hpp"
#include "base/clock.hpp"
#include "tests/standin/cupti/cupti_standin.hpp"
#include "tests/trace/waiting_module.hpp"

namespace gpufl::backend {
namespace {

constexpr const char* kInjectionPath = "CUDA_INJECTION64_PATH";

class CudaStart : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv(kInjectionPath);
    setenv("GPUFL_CUPTI_LIBRARY", GPUFL_STANDIN_CUPTI, 1);
    cuda_ = dlopen(GPUFL_STANDIN_CUDA, RTLD_NOW);
    ASSERT_NE(cuda_, nullptr) << dlerror();
    reinterpret_cast<void (*)()>(dlsym(cuda_, "cuda_standin_forget"))();
  }
  // Opens the library, if the tracer has not.
  const standin::CuptiStandin& cupti() {
    void* handle = dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW);
    return *reinterpret_cast<standin::CuptiStandinFunction*>(dlsym(handle, "cupti_standin"))();
  }
  void init_cuda() { reinterpret_cast<decltype(&::cuInit)>(dlsym(cuda_, "cuInit"))(0); }
  static std::string_view injection_path() {
    const char* value = std::getenv(kInjectionPath);
    return value != nullptr ? value : "";
  }

  Availability start() {
    tracer_ = make_waiting_tracer();
    session_start_ns_ = base::monotonic_ns();
    return tracer_->start(session_start_ns_);
  }
  void round() {
    const int64_t now_ns = base::monotonic_ns() - session_start_ns_;
    tracer_->gather(now_ns);
    tracer_->drain(now_ns, sink_);
  }
  format::Ledger finish() {
    tracer_->stop();
    round();
    format::Ledger ledger;
    tracer_->account(ledger);
    tracer_.reset();
    return ledger;
  }
  std::string state() { return tracer_->status().state; }
  const base::Json& last_event() { return sink_.lines[format::Kind::Event].back(); }

  void* cuda_ = nullptr;
  std::unique_ptr<Tracer> tracer_;
  int64_t session_start_ns_ = 0;
  RecordingSink sink_;
};

TEST_F(CudaStart, DormantUntilTheProgramInitialisesCuda) {
  const void* mapped_before = dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_TRUE(start().available);
  round();
  EXPECT_EQ(state(), "waiting_for_cuda");
  EXPECT_NE(injection_path().find("waiting_module"), std::string_view::npos);
  EXPECT_EQ(dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW | RTLD_NOLOAD), mapped_before);
  init_cuda();
  // In time for the very first call.
  EXPECT_EQ(state(), "recording");
  EXPECT_EQ(injection_path(), "");
  cupti().launch({});
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, 1u);
  EXPECT_EQ(ledger.kernel_records, 1u);
  EXPECT_TRUE(ledger.is_complete());
  EXPECT_EQ(last_event()["name"].as_string(), "cuda_initialised");
}

TEST_F(CudaStart, FoundLateWhenAnotherToolIsInjected) {
  setenv(kInjectionPath, "/opt/other/libtool.so", 1);
  ASSERT_TRUE(start().available);
  init_cuda();
  EXPECT_EQ(state(), "waiting_for_cuda");
  round();
  EXPECT_EQ(state(), "recording");
  EXPECT_NE(last_event()["text"].as_string().find("late"), std::string::npos);
  EXPECT_EQ(injection_path(), "/opt/other/libtool.so");
  finish();
}

TEST_F(CudaStart, AProgramThatNeverUsesCudaIsSaidToBeOne) {
  ASSERT_TRUE(start().available);
  round();
  const format::Ledger ledger = finish();
  EXPECT_EQ(last_event()["name"].as_string(), "cuda_not_used");
  EXPECT_EQ(ledger.launches_seen, 0u);
  EXPECT_EQ(ledger.kernel_records, 0u);
  EXPECT_TRUE(ledger.is_complete());
  EXPECT_EQ(injection_path(), "");
}

TEST_F(CudaStart, CudaInitialisedBeforeTheSession) {
  init_cuda();
  ASSERT_TRUE(start().available);
  EXPECT_EQ(state(), "recording");
  round();
  EXPECT_EQ(last_event()["name"].as_string(), "cuda_initialised");
  EXPECT_NE(last_event()["text"].as_string().find("before"), std::string::npos);
  finish();
}

TEST_F(CudaStart, ALibraryThatIsMissingThenIsToldThen) {
  setenv("GPUFL_CUPTI_LIBRARY", "/nonexistent/libcupti.so.13", 1);
  ASSERT_TRUE(start().available);
  init_cuda();
  EXPECT_EQ(state(), "library_not_found");
  round();
  EXPECT_EQ(last_event()["name"].as_string(), "trace_unavailable");
  EXPECT_EQ(last_event()["reason"].as_string(), "library_not_found");
  EXPECT_NE(last_event()["hint"].as_string(), "");
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.kernel_records, std::nullopt);
  EXPECT_EQ(ledger.tracings_refused, 1u);
  EXPECT_FALSE(ledger.is_complete());
  // The next session is none the worse.
  SetUp();
  ASSERT_TRUE(start().available);
  EXPECT_EQ(finish().tracings_refused, 0u);
}

TEST_F(CudaStart, WhatIsRefusedThenIsInTheLedgerAndACapability) {
  struct Refusal {
    const char* function;
    CUptiResult code;
    const char* word;
  };
  const Refusal refusals[] = {
      {"cuptiActivityEnable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "permission_denied"},
      {"cuptiActivityRegisterCallbacks", CUPTI_ERROR_NOT_COMPATIBLE, "another_tool"},
      {"cuptiSetThreadIdType", CUPTI_ERROR_UNKNOWN, "cupti_error"},
  };
  for (const Refusal& one : refusals) {
    SetUp();
    sink_ = {};
    ASSERT_TRUE(start().available);
    cupti().fail(one.function, one.code);
    init_cuda();
    EXPECT_EQ(state(), one.word);
    const format::Ledger ledger = finish();
    cupti().fail(one.function, CUPTI_SUCCESS);
    EXPECT_EQ(ledger.tracings_refused, 1u);
    EXPECT_FALSE(ledger.is_complete());
    const auto& told = sink_.lines[format::Kind::Capability];
    ASSERT_EQ(told.size(), 1u) << one.word;
    EXPECT_EQ(told[0]["feature"].as_string(), "profiling_engine");
    EXPECT_EQ(told[0]["asked"].as_string(), "Trace");
    EXPECT_EQ(told[0]["got"].as_string(), "Monitor");
    EXPECT_EQ(told[0]["reason"].as_string(), one.word);
    EXPECT_NE(told[0]["detail"].as_string().find(one.function), std::string::npos);
  }
}

TEST_F(CudaStart, APartThatIsRefusedThenIsACapability) {
  ASSERT_TRUE(start().available);
  cupti().fail("cuptiSubscribe", CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  init_cuda();
  EXPECT_EQ(state(), "recording");
  finish();
  cupti().fail("cuptiSubscribe", CUPTI_SUCCESS);
  const auto& told = sink_.lines[format::Kind::Capability];
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0]["feature"].as_string(), "launch_count");
  EXPECT_EQ(told[0]["got"].as_string(), "off");
  EXPECT_EQ(told[0]["reason"].as_string(), "another_subscriber");
}

TEST_F(CudaStart, AChildOfForkMayWaitForItself) {
  ASSERT_TRUE(start().available);
  const pid_t child = fork();
  if (child == 0) {
    round();
    tracer_.release();  // the parent's
    const bool started = start().available && state() == "waiting_for_cuda";
    init_cuda();
    const bool records = state() == "recording";
    finish();
    _exit(started && records ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(state(), "waiting_for_cuda");
  finish();
}

TEST_F(CudaStart, StartsAndStopsMeetCudasStart) {
  for (int i = 0; i < 20; ++i) {
    SetUp();
    ASSERT_TRUE(start().available);
    std::atomic<bool> done{false};
    std::thread program([&] {
      init_cuda();
      cupti().launch({});
      done = true;
    });
    while (i % 2 == 0 && !done) round();
    const format::Ledger ledger = finish();
    program.join();
    EXPECT_TRUE(done);
    EXPECT_EQ(ledger.launches_missing, 0u);
  }
}

}  // namespace
}  // namespace gpufl::backend
