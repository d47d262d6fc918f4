// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/call_roles.hpp"

#include <gtest/gtest.h>

namespace gpufl::backend {
namespace {

TEST(CallRolesTest, LaunchesOfTheDriver) {
  for (const char* name : {"cuLaunch", "cuLaunchGrid", "cuLaunchGridAsync"}) {
    EXPECT_EQ(watched_driver_call(name).role, CallRole::Launch) << name;
    EXPECT_EQ(watched_driver_call(name).shape, CallShape::Unknown) << name;
  }
  EXPECT_EQ(watched_driver_call("cuLaunchKernel").shape, CallShape::Kernel);
  EXPECT_EQ(watched_driver_call("cuLaunchKernelEx_ptsz").shape, CallShape::KernelEx);
  EXPECT_EQ(watched_driver_call("cuLaunchCooperativeKernel").shape, CallShape::Cooperative);
  EXPECT_FALSE(watched_driver_call("cuLaunchKernel").is_per_thread);
  EXPECT_TRUE(watched_driver_call("cuLaunchKernel_ptsz").is_per_thread);
  EXPECT_EQ(watched_driver_call("cuLaunchCooperativeKernelMultiDevice").role,
            CallRole::MultiLaunch);
  EXPECT_EQ(watched_driver_call("cuGraphLaunch_ptsz").role, CallRole::GraphLaunch);
  EXPECT_EQ(watched_driver_call("cuLaunchHostFunc").role, CallRole::Other);
}

TEST(CallRolesTest, WhatMakesAGraph) {
  for (const char* name :
       {"cuGraphInstantiateWithParams_ptsz", "cuGraphUpload", "cuStreamEndCapture_ptsz"}) {
    EXPECT_TRUE(watched_driver_call(name).makes_graph) << name;
  }
  for (const char* name :
       {"cudaGraphInstantiate_v12000", "cudaGraphUpload_v10000", "cudaStreamEndCapture_v10000"}) {
    EXPECT_TRUE(watched_runtime_call(name).makes_graph) << name;
  }
  for (const char* name : {"cuLaunchKernel", "cuGraphLaunch", "cuGraphAddKernelNode_v2"}) {
    EXPECT_FALSE(watched_driver_call(name).makes_graph) << name;
  }
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
  for (const char* name : {"cuModuleLoadDataEx", "cuDevicePrimaryCtxRetain", "cuGraphAddMemcpyNode",
                           "cuGraphAddMemsetNode", "cuGraphAddMemAllocNode", "cuEventRecord",
                           "cuModuleGetFunction", "cuLibraryGetKernel", "cuKernelGetFunction"}) {
    EXPECT_EQ(watched_driver_call(name).role, CallRole::Other) << name;
  }
  for (const char* name :
       {"cuCtxGetCurrent", "cuCtxSetCurrent", "cuCtxPushCurrent_v2", "cuMemGetInfo_v2",
        "cuDevicePrimaryCtxGetState", "cuEventQuery", "cuModuleGetLoadingMode",
        "cuModuleGetFunctionCount", "cuKernelGetAttribute", ""}) {
    EXPECT_EQ(watched_driver_call(name).role, CallRole::None) << name;
  }
}

TEST(CallRolesTest, OfTheRuntime) {
  for (const char* name : {"cudaDeviceSynchronize_v3020", "cudaStreamSynchronize_ptsz_v7000",
                           "cudaEventSynchronize_v3020", "cudaMemcpy_v3020"}) {
    EXPECT_EQ(watched_runtime_call(name).role, CallRole::Wait) << name;
  }
  for (const char* name : {"cudaMalloc_v3020", "cudaFree_v3020", "cudaMallocAsync_v11020",
                           "cudaMemcpyAsync_v3020", "cudaMemset_v3020"}) {
    EXPECT_EQ(watched_runtime_call(name).role, CallRole::Begin) << name;
  }
  for (const char* name : {"cudaLaunchKernel_v7000", "cudaLaunchKernelExC_v11060",
                           "cudaLaunchCooperativeKernel_v9000"}) {
    EXPECT_EQ(watched_runtime_call(name).role, CallRole::RuntimeKernel) << name;
  }
  for (const char* name :
       {"cudaLaunchCooperativeKernelMultiDevice_v9000", "cudaGraphLaunch_v10000"}) {
    EXPECT_EQ(watched_runtime_call(name).role, CallRole::RuntimeLaunch) << name;
  }
  EXPECT_EQ(watched_runtime_call("cudaStreamBeginCapture_v10000").role, CallRole::CaptureBegin);
  EXPECT_EQ(watched_runtime_call("cudaProfilerStop_v4000").role, CallRole::ProfilerStop);
  for (const char* name : {"cudaGraphAddMemcpyNode_v10000", "cudaLaunchHostFunc_v10000",
                           "cudaEventRecord_v3020", "cudaSetDevice_v3020"}) {
    EXPECT_EQ(watched_runtime_call(name).role, CallRole::Other) << name;
  }
  for (const char* name :
       {"cudaGetLastError_v3020", "cudaGetDevice_v3020", "cudaStreamIsCapturing_v10000",
        "cudaEventQuery_v3020", "cudaCreateChannelDesc_v3020", "__cudaRegisterVar_v13000"}) {
    EXPECT_EQ(watched_runtime_call(name).role, CallRole::None) << name;
  }
}

TEST(CallRolesTest, WhereWaitsSayWhatTheyWaitFor) {
  EXPECT_EQ(watched_runtime_call("cudaStreamSynchronize_v3020").shape, CallShape::Stream);
  EXPECT_FALSE(watched_runtime_call("cudaStreamSynchronize_v3020").is_per_thread);
  EXPECT_TRUE(watched_runtime_call("cudaStreamSynchronize_ptsz_v7000").is_per_thread);
  EXPECT_EQ(watched_driver_call("cuEventSynchronize").shape, CallShape::Event);
  EXPECT_EQ(watched_runtime_call("cudaDeviceSynchronize_v3020").shape, CallShape::Unknown);
  const WatchedCall wait = watched_driver_call("cuStreamWaitEvent_ptsz");
  EXPECT_EQ(wait.role, CallRole::StreamWait);
  EXPECT_EQ(wait.shape, CallShape::StreamAndEvent);
  EXPECT_TRUE(wait.is_per_thread);
}

}  // namespace
}  // namespace gpufl::backend
