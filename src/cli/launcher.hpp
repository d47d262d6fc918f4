// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/status.hpp"

// Runs a program in a process group of its own and stands in for it towards whoever started us:
// signals that we get go on to it, job control and the terminal work as if it had been started
// directly, and when we are killed so is it. Main thread, before any other starts.
namespace gpufl::cli {

// What happens meanwhile. Called on the main thread.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  // Signal `number` is about to go to process group `group`; it waits until this returns.
  virtual void before_signal(int number, pid_t group) = 0;
  // Every `pace` of launch().
  virtual void tick() = 0;
  // From here on, or until the other comes, the program has the terminal for itself.
  virtual void terminal_given() = 0;
};

struct Launch {
  std::vector<std::string> command;      // searched for in PATH
  std::vector<std::string> environment;  // "NAME=value"
  std::chrono::milliseconds pace{0};     // 0: no ticks
};

struct LaunchEnd {
  pid_t pid = 0;
  int exit_code = 0;        // the program's own, or 128 and the signal that ended it
  bool is_stopped = false;  // it got a signal that asks to stop, whatever it made of it
};

// Returns when the program has ended. Signals that came until then were its; of those that come
// later the first is taken for one that was meant for it, and the next ends us with its exit code.
// NotFound, or another code, when it could not be started.
base::Result<LaunchEnd> launch(const Launch& launch, LaunchObserver& observer);
// Whether such a signal has come since the program ended: then no other is to be launched.
bool stop_came_late();

}  // namespace gpufl::cli
