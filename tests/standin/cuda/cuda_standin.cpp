// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>
#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

// What tracing asks of CUDA's driver. cuInit() loads the library that CUDA_INJECTION64_PATH names
// and calls its InitializeInjection(), under the driver's own lock, as the real one does; every
// other function says so while CUDA is not initialised.
namespace {

struct Driver {
  std::recursive_mutex mutex;
  bool is_initialised = false;
};

Driver& driver() {
  static auto* const one = new Driver;
  return *one;
}

void inject() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr) return;
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) return;
  auto* entry = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (entry != nullptr) entry();
}

}  // namespace

#define STANDIN_EXPORT extern "C" __attribute__((visibility("default")))

STANDIN_EXPORT CUresult cuInit(unsigned) {
  const std::lock_guard lock(driver().mutex);
  if (driver().is_initialised) return CUDA_SUCCESS;
  inject();
  driver().is_initialised = true;
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuDeviceGetCount(int* count) {
  const std::lock_guard lock(driver().mutex);
  *count = 1;
  return driver().is_initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

STANDIN_EXPORT CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

// As in a process that has not touched CUDA.
STANDIN_EXPORT void cuda_standin_forget() {
  const std::lock_guard lock(driver().mutex);
  driver().is_initialised = false;
}
