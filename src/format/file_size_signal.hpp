// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <time.h>

namespace gpufl::format {

// A file that may not grow any further (RLIMIT_FSIZE) is an error for the writer of a log, not the
// end of its host: while one of these lives, the signal that comes with it is kept from this
// thread. Two system calls.
class FileSizeSignalBlocked {
 public:
  FileSizeSignalBlocked() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileSizeSignalBlocked() {
    if (sigismember(&before_, SIGXFSZ) == 1) return;
    constexpr timespec kNow{};
    while (sigtimedwait(&signal_, nullptr, &kNow) == SIGXFSZ) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeSignalBlocked(const FileSizeSignalBlocked&) = delete;
  FileSizeSignalBlocked& operator=(const FileSizeSignalBlocked&) = delete;

 private:
  sigset_t signal_, before_;
};

}  // namespace gpufl::format
