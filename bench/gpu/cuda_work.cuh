// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>

// Work for a GPU that costs it nothing, so that what is measured is its recording. Included by one
// source of a program. Nothing returns from an error: it is said, and the program ends with 2, as
// it does where there is no GPU.
namespace gpufl::bench {

#define GPUFL_CUDA(call) ::gpufl::bench::require_cuda((call), #call)

inline void require_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, call,
               cudaGetErrorString(status));
  std::exit(2);
}

// The name of GPU 0.
inline std::string require_gpu() {
  cudaDeviceProp device{};
  GPUFL_CUDA(cudaGetDeviceProperties(&device, 0));
  return device.name;
}

static __global__ void empty_kernel() {}

// A chain of empty kernels, one after the other, launched as one graph.
class KernelChain {
 public:
  explicit KernelChain(int kernels) : kernels_(kernels) {
    GPUFL_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    GPUFL_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < kernels; ++i) empty_kernel<<<1, 1, 0, stream_>>>();
    cudaGraph_t captured = nullptr;
    GPUFL_CUDA(cudaStreamEndCapture(stream_, &captured));
    GPUFL_CUDA(cudaGraphInstantiate(&graph_, captured, 0));
    GPUFL_CUDA(cudaGraphDestroy(captured));
  }
  ~KernelChain() {
    cudaGraphExecDestroy(graph_);
    cudaStreamDestroy(stream_);
  }
  KernelChain(const KernelChain&) = delete;
  KernelChain& operator=(const KernelChain&) = delete;

  int kernels() const { return kernels_; }
  void launch() { GPUFL_CUDA(cudaGraphLaunch(graph_, stream_)); }
  void wait() { GPUFL_CUDA(cudaStreamSynchronize(stream_)); }

 private:
  const int kernels_;
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace gpufl::bench
