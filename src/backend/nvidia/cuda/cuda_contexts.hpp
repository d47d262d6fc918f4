// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/dynamic_library.hpp"

// The contexts of the process, and what is asked of one that is not the calling thread's. Any
// thread; nothing here makes a context.
namespace gpufl::backend {

class CudaContexts {
 public:
  explicit CudaContexts(const base::DynamicLibrary& driver);

  uint32_t device_count() const;  // 1 where nobody says

  // The primary contexts that are in use. Each stays until it is released.
  std::vector<CUcontext> hold_primary() const;
  void release_primary(CUcontext context) const;

  std::optional<uint32_t> device_of(CUcontext context) const;  // CUDA's number of it
  std::optional<uint64_t> free_memory(CUcontext context) const;
  // Calls it, with the context current on this thread where CUDA lets it be.
  void run_within(CUcontext context, const std::function<void()>& call) const;
  // Waits for all that was given to the context: as long as that takes. False: it failed.
  bool synchronize(CUcontext context) const;

 private:
  template <typename Ask>
  bool within(CUcontext context, Ask&& ask) const;

  CUresult (*device_get_count_)(int*) = nullptr;
  CUresult (*device_get_)(CUdevice*, int) = nullptr;
  CUresult (*primary_state_)(CUdevice, unsigned*, int*) = nullptr;
  CUresult (*primary_retain_)(CUcontext*, CUdevice) = nullptr;
  CUresult (*primary_release_)(CUdevice) = nullptr;
  CUresult (*push_)(CUcontext) = nullptr;
  CUresult (*pop_)(CUcontext*) = nullptr;
  CUresult (*current_device_)(CUdevice*) = nullptr;
  CUresult (*memory_)(size_t*, size_t*) = nullptr;
  CUresult (*synchronize_)() = nullptr;
  bool is_usable_ = false;
};

}  // namespace gpufl::backend
