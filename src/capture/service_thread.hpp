// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/signals_blocked.hpp"

// Threads of ours in somebody else's process: named, deaf to signals, and never waited for without
// end where they may hang in a driver.
namespace gpufl::capture {

using base::SignalsBlocked;

class ServiceThread {
 public:
  ServiceThread() = default;
  ~ServiceThread() { join(); }
  ServiceThread(const ServiceThread&) = delete;
  ServiceThread& operator=(const ServiceThread&) = delete;

  // False when the system has no thread for us. `name` has at most 15 letters. A body that throws
  // ends its thread and nothing else.
  bool start(const char* name, std::function<void()> body);
  bool is_running() const { return thread_.joinable(); }
  void join();
  // False when the thread did not end in time; it is still there to be waited for.
  bool wait_for(std::chrono::milliseconds patience);
  // False when the thread did not end in time: it is then left to itself, so everything its body
  // uses must be owned by the body.
  bool join_for(std::chrono::milliseconds patience);
  // What the thread has used; valid after join.
  int64_t cpu_ns() const { return exit_ ? exit_->cpu_ns : 0; }

 private:
  struct Exit {
    std::mutex mutex;
    std::condition_variable cv;
    bool done = false;
    int64_t cpu_ns = 0;
  };

  std::thread thread_;
  std::shared_ptr<Exit> exit_;
};

}  // namespace gpufl::capture
