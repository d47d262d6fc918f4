// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <string_view>

// SIGINT, SIGTERM, SIGHUP (unless nohup has it ignored) and SIGWINCH as something to poll. Make it
// before any thread starts, so that every thread inherits the mask. SIGPIPE is ignored: a closed
// pipe is a failed write.
namespace gpufl::cli {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int fd() const { return fd_; }  // readable when a signal waits
  // The number of the next signal that waits; 0 when none does.
  int take() const;
  // From here on the signals do what they do by default: the next one ends the process at once.
  void release();

 private:
  sigset_t signals_;
  sigset_t before_;
  int fd_;
};

std::string_view signal_name(int number);

}  // namespace gpufl::cli
