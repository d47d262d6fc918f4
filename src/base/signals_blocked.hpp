// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

// For threads of ours in somebody else's process, whose signals are for its own threads.
namespace gpufl::base {

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

}  // namespace gpufl::base
