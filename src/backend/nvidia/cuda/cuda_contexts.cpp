// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cuda/cuda_contexts.hpp"

namespace gpufl::backend {

CudaContexts::CudaContexts(const base::DynamicLibrary& driver) {
  is_usable_ =
      driver.load("cuDeviceGetCount", device_get_count_) &&
      driver.load("cuDeviceGet", device_get_) &&
      driver.load("cuDevicePrimaryCtxGetState", primary_state_) &&
      driver.load("cuDevicePrimaryCtxRetain", primary_retain_) &&
      driver.load("cuDevicePrimaryCtxRelease_v2", primary_release_) &&
      driver.load("cuCtxPushCurrent_v2", push_) && driver.load("cuCtxPopCurrent_v2", pop_) &&
      driver.load("cuCtxGetDevice", current_device_) && driver.load("cuMemGetInfo_v2", memory_) &&
      driver.load("cuCtxSynchronize", synchronize_);
}

uint32_t CudaContexts::device_count() const {
  int count = 0;
  const bool is_told = device_get_count_ != nullptr && device_get_count_(&count) == CUDA_SUCCESS;
  return is_told && count > 0 ? static_cast<uint32_t>(count) : 1;
}

std::vector<CUcontext> CudaContexts::hold_primary() const {
  std::vector<CUcontext> held;
  int count = 0;
  if (!is_usable_ || device_get_count_(&count) != CUDA_SUCCESS) return held;
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    unsigned flags = 0;
    int is_active = 0;
    CUcontext context = nullptr;
    if (device_get_(&device, i) == CUDA_SUCCESS &&
        primary_state_(device, &flags, &is_active) == CUDA_SUCCESS && is_active != 0 &&
        primary_retain_(&context, device) == CUDA_SUCCESS) {
      held.push_back(context);
    }
  }
  return held;
}

void CudaContexts::release_primary(CUcontext context) const {
  if (const std::optional<uint32_t> device = device_of(context)) {
    primary_release_(static_cast<CUdevice>(*device));
  }
}

template <typename Ask>
bool CudaContexts::within(CUcontext context, Ask&& ask) const {
  if (!is_usable_ || push_(context) != CUDA_SUCCESS) return false;
  const bool is_answered = ask() == CUDA_SUCCESS;
  CUcontext popped = nullptr;
  pop_(&popped);
  return is_answered;
}

std::optional<uint32_t> CudaContexts::device_of(CUcontext context) const {
  CUdevice device = 0;
  if (!within(context, [&] { return current_device_(&device); })) return {};
  return static_cast<uint32_t>(device);
}

std::optional<uint64_t> CudaContexts::free_memory(CUcontext context) const {
  size_t free_bytes = 0;
  size_t all_bytes = 0;
  if (!within(context, [&] { return memory_(&free_bytes, &all_bytes); })) return {};
  return free_bytes;
}

void CudaContexts::run_within(CUcontext context, const std::function<void()>& call) const {
  const bool is_current = within(context, [&] {
    call();
    return CUDA_SUCCESS;
  });
  if (!is_current) call();
}

bool CudaContexts::synchronize(CUcontext context) const {
  return within(context, [&] { return synchronize_(); });
}

}  // namespace gpufl::backend
