// SPDX-License-Identifier: Apache-2.0
#include "tests/standin/cuda/cuda_timer_standin.hpp"
#include "tests/standin/cuda/cuda_standin.hpp"

#include <cuda.h>
#include <time.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

// What reading %globaltimer asks of CUDA's driver. The kernel does what its text says
// (src/backend/nvidia/globaltimer/globaltimer_ptx.hpp), on a thread.
namespace gpufl::standin {
namespace {

constexpr int64_t kTickNs = 32;
// What a GPU takes from the beginning of a kernel to its first instruction, and back.
constexpr int64_t kBeginNs = 500, kEndNs = 300;

struct Gpu {
  std::mutex mutex;
  std::condition_variable changed;
  CudaKernelHooks hooks{};
  int64_t ahead_ns = 0;
  double gains_ns_per_s = 0;
  uint64_t context = 1;
  std::map<std::string, CUresult, std::less<>> failures;
  bool is_held = false;
  uint32_t modules = 0, running = 0;
};

Gpu& gpu() {
  static auto* const one = new Gpu;
  return *one;
}

int64_t monotonic_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

uint64_t timer_at(int64_t time_ns) {
  const Gpu& one = gpu();
  const auto gained =
      static_cast<int64_t>(static_cast<double>(time_ns) * 1e-9 * one.gains_ns_per_s);
  const int64_t value = time_ns + one.ahead_ns + gained;
  return static_cast<uint64_t>(value - value % kTickNs);
}

void spin_until(int64_t time_ns) {
  while (monotonic_ns() < time_ns) {
  }
}

using Word = std::atomic<uint64_t>;

void run_kernel(Word* mailbox, uint64_t questions, uint64_t patience_ns, uint32_t id) {
  Gpu& one = gpu();
  {
    std::unique_lock lock(one.mutex);
    one.changed.wait(lock, [&] { return !one.is_held; });
  }
  const int64_t begin_ns = monotonic_ns();
  spin_until(begin_ns + kBeginNs);
  mailbox[8] = timer_at(monotonic_ns());
  bool is_asked = true;
  for (uint64_t question = 1; question <= questions && is_asked; ++question) {
    const uint64_t limit = timer_at(monotonic_ns()) + patience_ns;
    while (mailbox[0] < question && is_asked) is_asked = timer_at(monotonic_ns()) < limit;
    if (is_asked) mailbox[15 + question] = timer_at(monotonic_ns());
  }
  mailbox[10] = kTickNs;
  const int64_t last_ns = monotonic_ns();
  mailbox[9] = timer_at(last_ns);
  spin_until(last_ns + kEndNs);
  if (one.hooks.ended != nullptr) one.hooks.ended(id, begin_ns, monotonic_ns());
  mailbox[11] = 1;
  const std::lock_guard lock(one.mutex);
  --one.running;
  one.changed.notify_all();
}

void wait_for_kernels() {
  std::unique_lock lock(gpu().mutex);
  gpu().changed.wait(lock, [] { return gpu().running == 0; });
}

void reset(const CudaKernelHooks& hooks) {
  wait_for_kernels();
  Gpu& one = gpu();
  const std::lock_guard lock(one.mutex);
  one.hooks = hooks;
  one.ahead_ns = 0;
  one.gains_ns_per_s = 0;
  one.context = 1;
  one.failures.clear();
  one.is_held = false;
  one.modules = 0;
}

void set_timer(int64_t ahead_ns, double gains_ns_per_s) {
  gpu().ahead_ns = ahead_ns;
  gpu().gains_ns_per_s = gains_ns_per_s;
}

void set_context(uint64_t id) { gpu().context = id; }

void fail(const char* function, int code) {
  const std::lock_guard lock(gpu().mutex);
  gpu().failures[function] = static_cast<CUresult>(code);
}

void hold_kernels(bool hold) {
  const std::lock_guard lock(gpu().mutex);
  gpu().is_held = hold;
  gpu().changed.notify_all();
}

uint32_t modules_loaded() { return gpu().modules; }

constexpr CudaTimerStandin kStandin = {reset, set_timer,    timer_at,       set_context,
                                       fail,  hold_kernels, modules_loaded, wait_for_kernels};

template <typename Handle>
Handle handle(uint64_t number) {
  return reinterpret_cast<Handle>(number);  // NOLINT(performance-no-int-to-ptr)
}

CUresult failure(const char* function) {
  const auto found = gpu().failures.find(function);
  return found != gpu().failures.end() ? found->second : CUDA_SUCCESS;
}

}  // namespace
}  // namespace gpufl::standin

using namespace gpufl::standin;

#define STANDIN_EXPORT extern "C" __attribute__((visibility("default")))
#define STANDIN_MAY_FAIL(function)         \
  const std::lock_guard lock(gpu().mutex); \
  if (const CUresult code = failure(#function); code != CUDA_SUCCESS) return code

STANDIN_EXPORT const CudaTimerStandin* cuda_timer_standin() { return &kStandin; }

STANDIN_EXPORT CUresult cuGetErrorName(CUresult, const char** name) {
  *name = "CUDA_ERROR_PLAYED";
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
  STANDIN_MAY_FAIL(cuCtxGetCurrent);
  *context = handle<CUcontext>(gpu().context);
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  STANDIN_MAY_FAIL(cuCtxGetId);
  *id = reinterpret_cast<uintptr_t>(context);
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuCtxGetDevice(CUdevice* device) {
  STANDIN_MAY_FAIL(cuCtxGetDevice);
  *device = gpufl::standin::current_device();
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode*) {
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuModuleLoadData(CUmodule* module, const void* text) {
  STANDIN_MAY_FAIL(cuModuleLoadData);
  if (std::strstr(static_cast<const char*>(text), "gpufl_read_globaltimer") == nullptr) {
    return CUDA_ERROR_INVALID_PTX;
  }
  *module = handle<CUmodule>(++gpu().modules);
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char*) {
  STANDIN_MAY_FAIL(cuModuleGetFunction);
  *function = handle<CUfunction>(reinterpret_cast<uintptr_t>(module));
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned, int) {
  STANDIN_MAY_FAIL(cuStreamCreateWithPriority);
  *stream = handle<CUstream>(77);
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuStreamDestroy_v2(CUstream) { return CUDA_SUCCESS; }

STANDIN_EXPORT CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }

STANDIN_EXPORT CUresult cuMemFreeHost(void* memory) {
  std::free(memory);
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  constexpr size_t kAlignment = 64;
  if (gpu().hooks.allocated != nullptr) gpu().hooks.allocated();
  STANDIN_MAY_FAIL(cuMemHostAlloc);
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* host, unsigned) {
  STANDIN_MAY_FAIL(cuMemHostGetDevicePointer);
  *device = reinterpret_cast<CUdeviceptr>(host);
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                       unsigned, unsigned, CUstream, void** parameters, void**) {
  const uint32_t id = gpu().hooks.launched != nullptr ? gpu().hooks.launched() : 0;
  STANDIN_MAY_FAIL(cuLaunchKernel);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the GPU's memory is the host's here
  auto* mailbox = reinterpret_cast<Word*>(*static_cast<CUdeviceptr*>(parameters[0]));
  const uint64_t questions = *static_cast<uint64_t*>(parameters[1]);
  const uint64_t patience_ns = *static_cast<uint64_t*>(parameters[2]);
  ++gpu().running;
  std::thread(run_kernel, mailbox, questions, patience_ns, id).detach();
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  STANDIN_MAY_FAIL(cuMemcpyDtoH);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the GPU's memory is the host's here
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}
