// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/quiet_gpu.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "backend/nvidia/cupti/call_watch.hpp"
#include "base/own_threads.hpp"
#include "base/signals_blocked.hpp"

namespace gpufl::backend {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLaunchPatience{50};
constexpr int kTries = 8;
constexpr std::chrono::milliseconds kWorkPatience{200};

// A thread of an earlier phase that waits for a kernel still: while it does, no GPU is idle, and
// there is no need for another.
std::atomic<bool> g_is_waiting{false};

struct Outcome {
  std::mutex mutex;
  std::condition_variable cv;
  bool is_done = false;
  bool is_idle = false;
};

bool synchronize_all(const CudaContexts& contexts) noexcept {
  bool is_idle = true;
  // What captures would be disturbed.
  const auto synchronize = [&](CUcontext context) {
    is_idle = is_idle && !CallWatch::instance().is_capturing() && contexts.synchronize(context);
  };
  try {
    const auto seen = CallWatch::instance().contexts().all();
    const std::vector<CUcontext> primary = contexts.hold_primary();
    for (CUcontext context : primary) {
      synchronize(context);
      contexts.release_primary(context);
    }
    if (!seen) return false;
    for (CUcontext context : *seen) {
      const bool is_primary = std::find(primary.begin(), primary.end(), context) != primary.end();
      if (!is_primary) synchronize(context);
    }
  } catch (const std::bad_alloc&) {
    is_idle = false;
  }
  return is_idle;
}

// On a thread of its own, which is left to itself where a kernel runs for longer.
bool wait_for_work(const CudaContexts& contexts) {
  if (g_is_waiting.exchange(true)) return false;
  const auto outcome = std::make_shared<Outcome>();
  const base::SignalsBlocked blocked;
  try {
    std::thread([outcome, &contexts] {
      const base::OwnThread own_thread;
      const OwnCalls own_calls;
      const bool is_idle = synchronize_all(contexts);
      g_is_waiting = false;
      const std::lock_guard lock(outcome->mutex);
      outcome->is_done = true;
      outcome->is_idle = is_idle;
      outcome->cv.notify_all();
    }).detach();
  } catch (const std::system_error&) {
    g_is_waiting = false;
    return false;
  }
  std::unique_lock lock(outcome->mutex);
  outcome->cv.wait_for(lock, kWorkPatience, [&] { return outcome->is_done; });
  return outcome->is_idle;
}

}  // namespace

QuietGpu::QuietGpu(LaunchGate& gate, uint32_t gate_session, const CudaContexts& contexts)
    : gate_(gate), gate_session_(gate_session), contexts_(contexts) {
  if (CallWatch::instance().is_capturing()) return;
  gate_.park();
  is_quiet_ = wait_until_quiet();
  if (!is_quiet_) gate_.unpark();
}

bool QuietGpu::wait_until_quiet() {
  const auto end = Clock::now() + kLaunchPatience;
  const auto launches = [&] { return gate_.is_launch_under_way(gate_session_); };
  // A thread that was not parked yet may launch once more while the GPUs are waited for.
  for (int tries = 0; tries < kTries; ++tries) {
    while (launches()) {
      if (Clock::now() >= end) return false;
      std::this_thread::yield();
    }
    parked_ = gate_.parked();
    if (!wait_for_work(contexts_)) return false;
    if (CallWatch::instance().is_capturing()) return false;
    if (gate_.parked() == parked_ && !launches()) return true;
  }
  return false;
}

void QuietGpu::settle() {
  for (int tries = 0; tries < kTries && is_quiet_ && gate_.is_parking(); ++tries) {
    if (!is_quiet()) is_quiet_ = wait_until_quiet();
    if (is_quiet_ && CallWatch::instance().wait_until_between_calls() && is_quiet()) return;
  }
  is_quiet_ = false;
}

}  // namespace gpufl::backend
