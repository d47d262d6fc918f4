// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/globaltimer/globaltimer_probe.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "backend/nvidia/cuda/beside_captures.hpp"
#include "backend/nvidia/cuda/own_kernel.hpp"
#include "backend/nvidia/globaltimer/globaltimer_ptx.hpp"
#include "base/clock.hpp"

namespace gpufl::backend {
namespace {

constexpr size_t kQuestions = 16;
constexpr int64_t kMillisecondNs = 1'000'000;
// How long the kernel waits for a question: a host that was put aside meanwhile.
constexpr uint64_t kKernelPatienceNs = 5 * kMillisecondNs;
// How long the host waits: for a GPU that is busy, and for one answer.
constexpr int64_t kStartPatienceNs = 20 * kMillisecondNs;
constexpr int64_t kAnswerPatienceNs = 10 * kMillisecondNs;
// Of a reading that is given up: every question has been asked.
constexpr uint64_t kAllAsked = UINT64_MAX;
constexpr size_t kMaxContexts = 64;
constexpr int64_t kMaxTickNs = 1 << 20;
constexpr int kHighestPriority = -1024;  // the driver takes the highest that there is

using Word = std::atomic<uint64_t>;
static_assert(sizeof(Word) == sizeof(uint64_t) && Word::is_always_lock_free);

// True when `condition` comes to hold in time.
template <typename Condition>
bool wait_until(int64_t deadline_ns, Condition condition) {
  while (!condition()) {
    if (base::monotonic_ns() > deadline_ns) return condition();
  }
  return true;
}

}  // namespace

// As the kernel's text has it.
struct GlobaltimerProbe::Mailbox {
  alignas(64) Word question;
  alignas(64) Word first;
  Word last, tick, done;
  alignas(64) Word answers[kQuestions];
};

base::Status GlobaltimerProbe::open() {
  if (is_open_) return base::Status::ok();
  auto library = base::DynamicLibrary::find_loaded({"libcuda.so.1"});
  if (!library) return {base::Code::Unavailable, "this process has not loaded libcuda"};
  library_ = std::move(*library);
  const bool has_all = library_.load("cuCtxGetCurrent", driver_.ctx_get_current) &&
                       library_.load("cuCtxGetId", driver_.ctx_get_id) &&
                       library_.load("cuCtxGetDevice", driver_.ctx_get_device) &&
                       library_.load("cuThreadExchangeStreamCaptureMode", driver_.capture_mode) &&
                       library_.load("cuModuleLoadData", driver_.module_load) &&
                       library_.load("cuModuleUnload", driver_.module_unload) &&
                       library_.load("cuModuleGetFunction", driver_.module_get_function) &&
                       library_.load("cuStreamCreateWithPriority", driver_.stream_create) &&
                       library_.load("cuStreamDestroy_v2", driver_.stream_destroy) &&
                       library_.load("cuMemHostAlloc", driver_.host_alloc) &&
                       library_.load("cuMemFreeHost", driver_.host_free) &&
                       library_.load("cuMemHostGetDevicePointer_v2", driver_.host_device_pointer) &&
                       library_.load("cuLaunchKernel", driver_.launch) &&
                       library_.load("cuGetErrorName", driver_.error_name);
  if (!has_all) return {base::Code::Unsupported, "libcuda is older than CUDA 12"};
  is_open_ = true;
  return base::Status::ok();
}

base::Status GlobaltimerProbe::failure(CUresult code, const char* call) const {
  const char* name = nullptr;
  if (driver_.error_name(code, &name) != CUDA_SUCCESS || name == nullptr) name = "an error";
  return {base::Code::Unavailable, std::string(call) + ": " + name};
}

base::Result<CUcontext> GlobaltimerProbe::current_context() {
  if (base::Status opened = open(); !opened) return opened;
  CUcontext context = nullptr;
  const CUresult code = driver_.ctx_get_current(&context);
  if (code != CUDA_SUCCESS) return failure(code, "cuCtxGetCurrent");
  if (context == nullptr) {
    return base::Status(base::Code::Unavailable, "no CUDA context is current on this thread");
  }
  return context;
}

base::Result<int> GlobaltimerProbe::current_device() {
  const auto context = current_context();
  if (!context) return context.status();
  CUdevice device = 0;
  const CUresult code = driver_.ctx_get_device(&device);
  if (code != CUDA_SUCCESS) return failure(code, "cuCtxGetDevice");
  return static_cast<int>(device);
}

base::Result<GlobaltimerProbe::ContextState*> GlobaltimerProbe::state_of(CUcontext context) {
  unsigned long long id = 0;
  if (const CUresult code = driver_.ctx_get_id(context, &id); code != CUDA_SUCCESS) {
    return failure(code, "cuCtxGetId");
  }
  const auto known = std::find_if(contexts_.begin(), contexts_.end(),
                                  [&](const ContextState& state) { return state.id == id; });
  if (known != contexts_.end()) return &*known;
  ContextState fresh;
  fresh.id = id;
  if (base::Status ready = set_up(fresh); !ready) {
    take_down(fresh);
    return ready;
  }
  // A program that makes contexts without end: the oldest are gone, or do without.
  if (contexts_.size() == kMaxContexts) contexts_.erase(contexts_.begin());
  contexts_.push_back(fresh);
  return &contexts_.back();
}

base::Status GlobaltimerProbe::set_up(ContextState& state) const {
  CUresult code = driver_.module_load(&state.module, kGlobaltimerPtx);
  if (code != CUDA_SUCCESS) return failure(code, "cuModuleLoadData");
  code = driver_.module_get_function(&state.kernel, state.module, kOwnKernel);
  if (code != CUDA_SUCCESS) return failure(code, "cuModuleGetFunction");
  code = driver_.stream_create(&state.stream, CU_STREAM_NON_BLOCKING, kHighestPriority);
  if (code != CUDA_SUCCESS) return failure(code, "cuStreamCreateWithPriority");
  void* memory = nullptr;
  code = driver_.host_alloc(&memory, sizeof(Mailbox),
                            CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE);
  if (code != CUDA_SUCCESS) return failure(code, "cuMemHostAlloc");
  state.mailbox = static_cast<Mailbox*>(memory);
  code = driver_.host_device_pointer(&state.device_mailbox, memory, 0);
  if (code != CUDA_SUCCESS) return failure(code, "cuMemHostGetDevicePointer");
  return base::Status::ok();
}

// What a set-up that failed has made: the next reading tries anew.
void GlobaltimerProbe::take_down(const ContextState& state) const {
  if (state.mailbox != nullptr) driver_.host_free(state.mailbox);
  if (state.stream != nullptr) driver_.stream_destroy(state.stream);
  if (state.module != nullptr) driver_.module_unload(state.module);
}

base::Result<GlobaltimerReading> GlobaltimerProbe::read() {
  const auto context = current_context();
  if (!context) return context.status();
  const BesideCaptures beside_captures(driver_.capture_mode);
  const auto state = state_of(*context);
  if (!state) return state.status();
  return ask(**state);
}

base::Result<GlobaltimerReading> GlobaltimerProbe::ask(ContextState& state) {
  static_assert(offsetof(Mailbox, first) == 64 && offsetof(Mailbox, last) == 72);
  static_assert(offsetof(Mailbox, tick) == 80 && offsetof(Mailbox, done) == 88);
  static_assert(offsetof(Mailbox, answers) == 128);
  Mailbox& mailbox = *state.mailbox;
  const auto busy = [] {
    return base::Status(base::Code::Unavailable, "the GPU did not run the timer's kernel in time");
  };
  if (state.is_left_running && mailbox.done == 0) return busy();
  state.is_left_running = false;
  std::memset(static_cast<void*>(&mailbox), 0, sizeof mailbox);

  GlobaltimerReading reading;
  uint64_t questions = kQuestions, patience_ns = kKernelPatienceNs;
  void* parameters[] = {&state.device_mailbox, &questions, &patience_ns};
  reading.called_ns = base::monotonic_ns();
  const CUresult code =
      driver_.launch(state.kernel, 1, 1, 1, 1, 1, 1, 0, state.stream, parameters, nullptr);
  if (code != CUDA_SUCCESS) return failure(code, "cuLaunchKernel");
  const auto give_up = [&] {
    mailbox.question = kAllAsked;
    state.is_left_running = true;
    return busy();
  };
  if (!wait_until(reading.called_ns + kStartPatienceNs, [&] { return mailbox.first != 0; })) {
    return give_up();
  }
  int64_t tightest_ns = INT64_MAX;
  for (size_t i = 0; i < kQuestions; ++i) {
    const int64_t asked_ns = base::monotonic_ns();
    mailbox.question = i + 1;
    const bool is_answered = wait_until(
        asked_ns + kAnswerPatienceNs, [&] { return mailbox.answers[i] != 0 || mailbox.done != 0; });
    const int64_t answered_ns = base::monotonic_ns();
    if (!is_answered) return give_up();
    const uint64_t stamp = mailbox.answers[i];
    if (stamp == 0) break;  // the kernel lost its patience: what it has told is good
    if (answered_ns - asked_ns >= tightest_ns) continue;
    tightest_ns = answered_ns - asked_ns;
    reading.by_host = {stamp, stamp, asked_ns, answered_ns};
  }
  if (!wait_until(base::monotonic_ns() + kAnswerPatienceNs, [&] { return mailbox.done != 0; })) {
    return give_up();
  }
  reading.seen_ns = base::monotonic_ns();
  reading.first = mailbox.first;
  reading.last = mailbox.last;
  reading.tick_ns = static_cast<int64_t>(mailbox.tick.load());
  const bool is_whole = tightest_ns != INT64_MAX && reading.last >= reading.first &&
                        reading.tick_ns > 0 && reading.tick_ns <= kMaxTickNs;
  if (!is_whole) return base::Status(base::Code::Unavailable, "the timer could not be read");
  return reading;
}

}  // namespace gpufl::backend
