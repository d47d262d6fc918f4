// SPDX-License-Identifier: Apache-2.0
#include "capture/service_thread.hpp"

#include <pthread.h>

#include <exception>

#include "base/clock.hpp"
#include "base/own_threads.hpp"

namespace gpufl::capture {

bool ServiceThread::start(const char* name, std::function<void()> body) {
  const SignalsBlocked blocked;
  try {
    exit_ = std::make_shared<Exit>();
    thread_ = std::thread([exit = exit_, name, body = std::move(body)]() mutable {
      const base::OwnThread own;
      pthread_setname_np(pthread_self(), name);
      try {
        body();
      } catch (...) {
        // Out of memory: the host goes on without this thread.
      }
      body = nullptr;  // what it owns goes before anyone is told that it has ended
      const std::lock_guard lock(exit->mutex);
      exit->cpu_ns = base::clock_ns(CLOCK_THREAD_CPUTIME_ID);
      exit->done = true;
      exit->cv.notify_all();
    });
  } catch (const std::exception&) {  // no thread, or no memory for one
    return false;
  }
  return true;
}

void ServiceThread::join() {
  if (thread_.joinable()) thread_.join();
}

bool ServiceThread::wait_for(std::chrono::milliseconds patience) {
  if (!thread_.joinable()) return true;
  std::unique_lock lock(exit_->mutex);
  return exit_->cv.wait_for(lock, patience, [&] { return exit_->done; });
}

bool ServiceThread::join_for(std::chrono::milliseconds patience) {
  if (wait_for(patience)) {
    join();
    return true;
  }
  thread_.detach();
  exit_.reset();
  return false;
}

}  // namespace gpufl::capture
