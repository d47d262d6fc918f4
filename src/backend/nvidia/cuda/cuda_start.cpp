// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cuda/cuda_start.hpp"

#include <cuda.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "base/dynamic_library.hpp"

namespace gpufl::backend {
namespace {

constexpr const char* kInjectionPath = "CUDA_INJECTION64_PATH";

struct Waiting {
  // Held while the listener is told: it must not go away meanwhile. Recursive, because CUPTI, which
  // the listener starts, may itself initialise CUDA.
  std::recursive_mutex mutex;
  CudaStartListener* listener = nullptr;
  bool set_by_us = false;
};

// Never destroyed: CUDA may start in an exit handler. A child of fork() has one of its own, because
// another thread of the parent's may have held the lock.
std::atomic<Waiting*>& slot() {
  static std::atomic<Waiting*> one{new Waiting};
  return one;
}
Waiting& waiting() { return *slot().load(); }

std::string_view injection_path() {
  const char* value = std::getenv(kInjectionPath);
  return value != nullptr ? value : "";
}

void take_back_variable(Waiting& state) {
  if (!state.set_by_us) return;
  state.set_by_us = false;
  // A process that this one starts is none of ours.
  if (injection_path() == own_library_path()) unsetenv(kInjectionPath);
}

}  // namespace

std::string own_library_path() {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&own_library_path), &info, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0 ||
      map == nullptr) {
    return "";
  }
  // The program itself has no name in the loader's list.
  return map->l_name != nullptr ? map->l_name : "";
}

bool can_hear_cuda_start() {
  const std::string own = own_library_path();
  if (own.empty()) return false;
  const auto library = base::DynamicLibrary::find_loaded({own});
  return library && library->address("InitializeInjection") != nullptr;
}

int start_cuda() {
  const auto library = base::DynamicLibrary::open({"libcuda.so.1"});
  decltype(&::cuInit) init = nullptr;
  decltype(&::cuDeviceGetCount) device_get_count = nullptr;
  if (!library || !library->load("cuInit", init) ||
      !library->load("cuDeviceGetCount", device_get_count)) {
    return 0;
  }
  const std::string tool(injection_path());
  unsetenv(kInjectionPath);
  int count = 0;
  if (init(0) != CUDA_SUCCESS || device_get_count(&count) != CUDA_SUCCESS) count = 0;
  if (!tool.empty()) setenv(kInjectionPath, tool.c_str(), 1);
  return count;
}

void cuda_start_after_fork_in_child() { slot() = new Waiting; }

void listen_for_cuda_start(CudaStartListener* listener) {
  Waiting& state = waiting();
  const std::lock_guard lock(state.mutex);
  state.listener = listener;
  const std::string own = own_library_path();
  if (own.empty() || !injection_path().empty()) return;
  state.set_by_us = setenv(kInjectionPath, own.c_str(), 1) == 0;
}

void forget_cuda_start(CudaStartListener* listener) {
  Waiting& state = waiting();
  const std::lock_guard lock(state.mutex);
  if (state.listener != listener) return;
  state.listener = nullptr;
  take_back_variable(state);
}

bool nvidia_cuda_starts() {
  Waiting& state = waiting();
  const std::lock_guard lock(state.mutex);
  CudaStartListener* listener = state.listener;
  if (listener == nullptr) return false;
  state.listener = nullptr;
  take_back_variable(state);
  listener->on_cuda_start();
  return true;
}

}  // namespace gpufl::backend
