// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

// Threads of ours in somebody else's process: named, deaf to signals, and never waited for without
// end where they may hang in a driver.
namespace gpufl::capture {

// Blocks all signals on this thread while it lives. Threads started meanwhile, our own and those
// of libraries we open, inherit that for good: the host's handlers never run on them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    // A fault is the thread's own: blocked, it would end the host without the host's handler.
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
      sigdelset(&all, fault);
    }
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

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
