// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>
#include <warpscope.cuh>
#include <warpscope_host.hpp>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

// A capture in the GPU's memory, from before the launch to after it. What fails is said, and ends
// the program with 2: this is for examples, benchmarks and tests, which cannot go on without.
namespace ws_example {

#define WS_CUDA(call) ::ws_example::require_cuda((call), #call)

inline void require_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(status));
  std::exit(2);
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t size) : size_(size) {
    WS_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  size_t size() const { return size_; }
  void fill_bytes(int byte) { WS_CUDA(cudaMemset(data_, byte, size_ * sizeof(T))); }
  void upload(const std::vector<T>& from) {
    WS_CUDA(cudaMemcpy(data_, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> download() const {
    std::vector<T> to(size_);
    WS_CUDA(cudaMemcpy(to.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }

 private:
  T* data_ = nullptr;
  const size_t size_;
};

class DeviceCapture {
 public:
  explicit DeviceCapture(const ws::CaptureLayout& layout, const ws::Names& names = {})
      : layout_(layout), empty_(ws::make_capture(layout, names)), words_(empty_.size()) {
    reset();
  }

  // As it has to be before a launch.
  void reset() { words_.upload(empty_); }
  ws::Capture argument() const {
    return ws::capture_at(words_.data(), empty_.data() + layout_.num_slots());
  }
  // All words, after what was launched has ended.
  std::vector<uint64_t> words() const { return words_.download(); }
  ws::Trace decode() const { return ws::decode_capture(words()); }

 private:
  const ws::CaptureLayout layout_;
  const std::vector<uint64_t> empty_;
  DeviceArray<uint64_t> words_;
};

// The multiprocessors of GPU 0.
inline uint32_t multiprocessors() {
  int count = 0;
  WS_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return static_cast<uint32_t>(count);
}

// What was wrong with a capture, one line each.
inline void print_problems(const ws::Trace& trace) {
  for (const ws::Problem& problem : trace.problems) {
    std::printf("%s: %s\n", ws::problem_name(problem.kind), problem.text.c_str());
  }
}

}  // namespace ws_example
