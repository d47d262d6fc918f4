// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/quiet_gpu.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "backend/nvidia/cupti/call_watch.hpp"
#include "base/own_threads.hpp"
#include "base/signals_blocked.hpp"

namespace gpufl::backend {
namespace {

constexpr std::chrono::microseconds kLaunchPatience{50'000};
constexpr std::chrono::milliseconds kWorkPatience{200};

struct Outcome {
  std::mutex mutex;
  std::condition_variable cv;
  bool is_done = false;
  bool is_idle = false;
};

// On a thread of its own, which is left to itself where a kernel runs for longer.
bool wait_for_work(const CudaContexts& contexts) {
  const auto outcome = std::make_shared<Outcome>();
  const base::SignalsBlocked blocked;
  try {
    std::thread([outcome, &contexts] {
      const base::OwnThread own_thread;
      const OwnCalls own_calls;
      bool is_idle = true;
      for (CUcontext context : contexts.hold_primary()) {
        is_idle = contexts.synchronize(context) && is_idle;
        contexts.release_primary(context);
      }
      const std::lock_guard lock(outcome->mutex);
      outcome->is_done = true;
      outcome->is_idle = is_idle;
      outcome->cv.notify_all();
    }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  std::unique_lock lock(outcome->mutex);
  outcome->cv.wait_for(lock, kWorkPatience, [&] { return outcome->is_done; });
  return outcome->is_idle;
}

}  // namespace

QuietGpu::QuietGpu(LaunchGate& gate, uint32_t gate_session, const CudaContexts& contexts)
    : gate_(gate) {
  if (!gate_.shut(gate_session, kLaunchPatience)) return;
  is_quiet_ = !CallWatch::instance().is_capturing() && wait_for_work(contexts);
  if (!is_quiet_) gate_.open();
}

QuietGpu::~QuietGpu() {
  if (is_quiet_) gate_.open();
}

}  // namespace gpufl::backend
