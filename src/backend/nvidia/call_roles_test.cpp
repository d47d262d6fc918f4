// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/call_roles.hpp"

#include <gtest/gtest.h>

namespace gpufl::backend {
namespace {

TEST(CallRolesTest, LaunchesOfTheDriver) {
  for (const char* name : {"cuLaunch", "cuLaunchGrid", "cuLaunchGridAsync"}) {
    EXPECT_EQ(watched_driver_call(name).role, CallRole::Launch) << name;
    EXPECT_EQ(watched_driver_call(name).shape, LaunchShape::Unknown) << name;
  }
  EXPECT_EQ(watched_driver_call("cuLaunchKernel").shape, LaunchShape::Kernel);
  EXPECT_EQ(watched_driver_call("cuLaunchKernelEx_ptsz").shape, LaunchShape::KernelEx);
  EXPECT_EQ(watched_driver_call("cuLaunchCooperativeKernel").shape, LaunchShape::Cooperative);
  EXPECT_FALSE(watched_driver_call("cuLaunchKernel").is_per_thread);
  EXPECT_TRUE(watched_driver_call("cuLaunchKernel_ptsz").is_per_thread);
  EXPECT_EQ(watched_driver_call("cuLaunchCooperativeKernelMultiDevice").role,
            CallRole::MultiLaunch);
  EXPECT_EQ(watched_driver_call("cuGraphLaunch_ptsz").role, CallRole::GraphLaunch);
  EXPECT_EQ(watched_driver_call("cuLaunchHostFunc").role, CallRole::None);
}

TEST(CallRolesTest, OthersOfTheDriver) {
  for (const char* name : {"cuCtxSynchronize", "cuStreamSynchronize_ptsz", "cuEventSynchronize",
                           "cuMemcpyDtoH_v2", "cuMemcpy2D_v2_ptds"}) {
    EXPECT_EQ(watched_driver_call(name).role, CallRole::Wait) << name;
  }
  for (const char* name : {"cuMemcpyHtoDAsync_v2", "cuMemcpyBatchAsync_v2_ptsz", "cuMemsetD8Async",
                           "cuMemAlloc_v2", "cuMemAllocAsync", "cuMemFree_v2"}) {
    EXPECT_EQ(watched_driver_call(name).role, CallRole::Begin) << name;
  }
  EXPECT_EQ(watched_driver_call("cuStreamBeginCaptureToGraph").role, CallRole::CaptureBegin);
  EXPECT_EQ(watched_driver_call("cuStreamEndCapture_ptsz").role, CallRole::CaptureEnd);
  EXPECT_EQ(watched_driver_call("cuProfilerStart").role, CallRole::ProfilerStart);
  EXPECT_EQ(watched_driver_call("cuProfilerStop").role, CallRole::ProfilerStop);
  EXPECT_EQ(watched_driver_call("cuModuleLoadDataEx").role, CallRole::Slow);
  EXPECT_EQ(watched_driver_call("cuDevicePrimaryCtxRetain").role, CallRole::Slow);
  for (const char* name :
       {"cuGraphAddMemcpyNode", "cuGraphAddMemsetNode", "cuGraphAddMemAllocNode", "cuCtxGetCurrent",
        "cuMemGetInfo_v2", "cuDevicePrimaryCtxGetState", ""}) {
    EXPECT_EQ(watched_driver_call(name).role, CallRole::None) << name;
  }
}

TEST(CallRolesTest, OfTheRuntimeOnlyWhatTheDriversCallsMightNotTell) {
  for (const char* name : {"cudaDeviceSynchronize_v3020", "cudaStreamSynchronize_ptsz_v7000",
                           "cudaEventSynchronize_v3020", "cudaMemcpy_v3020"}) {
    EXPECT_EQ(watched_runtime_call(name).role, CallRole::Wait) << name;
  }
  EXPECT_EQ(watched_runtime_call("cudaStreamBeginCapture_v10000").role, CallRole::CaptureBegin);
  EXPECT_EQ(watched_runtime_call("cudaProfilerStop_v4000").role, CallRole::ProfilerStop);
  for (const char* name : {"cudaLaunchKernel_v7000", "cudaGraphLaunch_v10000", "cudaMalloc_v3020",
                           "cudaMemcpyAsync_v3020"}) {
    EXPECT_EQ(watched_runtime_call(name).role, CallRole::None) << name;
  }
}

}  // namespace
}  // namespace gpufl::backend
