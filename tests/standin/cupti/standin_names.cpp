// SPDX-License-Identifier: Apache-2.0
#include "tests/standin/cupti/standin_library.hpp"

// Names of the functions that tests play and that stored recordings hold: the tool tells by name
// what a function does, so a recording with one that is missing here would be replayed wrongly.
namespace gpufl::standin {
namespace {

struct FunctionName {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  const char* name;
};
#define STANDIN_DRIVER(name) {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##name, #name}
#define STANDIN_RUNTIME(name) {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##name, #name}
constexpr FunctionName kNames[] = {
    STANDIN_DRIVER(cuCtxSynchronize),
    STANDIN_DRIVER(cuDevicePrimaryCtxGetState),
    STANDIN_DRIVER(cuDevicePrimaryCtxReset),
    STANDIN_DRIVER(cuDevicePrimaryCtxRetain),
    STANDIN_DRIVER(cuGraphInstantiateWithFlags),
    STANDIN_DRIVER(cuGraphLaunch),
    STANDIN_DRIVER(cuGraphNodeSetEnabled),
    STANDIN_DRIVER(cuInit),
    STANDIN_DRIVER(cuLaunchCooperativeKernelMultiDevice),
    STANDIN_DRIVER(cuLaunchKernel),
    STANDIN_DRIVER(cuLaunchKernelEx),
    STANDIN_DRIVER(cuLaunchKernelEx_ptsz),
    STANDIN_DRIVER(cuLibraryLoadData),
    STANDIN_DRIVER(cuMemAlloc_v2),
    STANDIN_DRIVER(cuMemFreeHost),
    STANDIN_DRIVER(cuMemFree_v2),
    STANDIN_DRIVER(cuMemHostAlloc),
    STANDIN_DRIVER(cuMemcpyDtoDAsync_v2),
    STANDIN_DRIVER(cuMemcpyDtoD_v2),
    STANDIN_DRIVER(cuMemcpyDtoHAsync_v2),
    STANDIN_DRIVER(cuMemcpyDtoH_v2),
    STANDIN_DRIVER(cuMemcpyHtoDAsync_v2),
    STANDIN_DRIVER(cuMemsetD8Async),
    STANDIN_DRIVER(cuMemsetD8_v2),
    STANDIN_DRIVER(cuModuleLoadData),
    STANDIN_DRIVER(cuProfilerStart),
    STANDIN_DRIVER(cuProfilerStop),
    STANDIN_DRIVER(cuStreamBeginCapture_v2),
    STANDIN_DRIVER(cuStreamDestroy_v2),
    STANDIN_DRIVER(cuStreamEndCapture),
    STANDIN_DRIVER(cuStreamSynchronize),
    STANDIN_RUNTIME(cudaDeviceGetStreamPriorityRange_v5050),
    STANDIN_RUNTIME(cudaDeviceReset_v3020),
    STANDIN_RUNTIME(cudaDeviceSynchronize_v3020),
    STANDIN_RUNTIME(cudaEventCreateWithFlags_v3020),
    STANDIN_RUNTIME(cudaEventRecord_v3020),
    STANDIN_RUNTIME(cudaFreeHost_v3020),
    STANDIN_RUNTIME(cudaFree_v3020),
    STANDIN_RUNTIME(cudaFuncSetAttribute_v9000),
    STANDIN_RUNTIME(cudaGetDeviceCount_v3020),
    STANDIN_RUNTIME(cudaGetDeviceProperties_v12000),
    STANDIN_RUNTIME(cudaGetSymbolAddress_v3020),
    STANDIN_RUNTIME(cudaGraphInstantiate_v12000),
    STANDIN_RUNTIME(cudaGraphLaunch_v10000),
    STANDIN_RUNTIME(cudaHostAlloc_v3020),
    STANDIN_RUNTIME(cudaLaunchKernel_v7000),
    STANDIN_RUNTIME(cudaMalloc_v3020),
    STANDIN_RUNTIME(cudaMemcpyAsync_v3020),
    STANDIN_RUNTIME(cudaMemcpy_v3020),
    STANDIN_RUNTIME(cudaMemsetAsync_v3020),
    STANDIN_RUNTIME(cudaMemset_v3020),
    STANDIN_RUNTIME(cudaStreamBeginCapture_v10000),
    STANDIN_RUNTIME(cudaStreamCreateWithPriority_v5050),
    STANDIN_RUNTIME(cudaStreamCreate_v3020),
    STANDIN_RUNTIME(cudaStreamDestroy_v5050),
    STANDIN_RUNTIME(cudaStreamEndCapture_v10000),
    STANDIN_RUNTIME(cudaStreamSynchronize_v3020),
    STANDIN_RUNTIME(cudaStreamWaitEvent_v3020),
    // Headers of older versions lack them.
    {CUPTI_CB_DOMAIN_DRIVER_API, 800, "cuCtxSynchronize_v2"},
    {CUPTI_CB_DOMAIN_RUNTIME_API, 468, "cudaGetDriverEntryPointByVersion_v12050"},
};

}  // namespace

const char* function_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  for (const FunctionName& function : kNames) {
    if (function.domain == domain && function.id == id) return function.name;
  }
  return nullptr;
}

}  // namespace gpufl::standin
