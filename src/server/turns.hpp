// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

// Lets threads work one at a time, in turns of some length: whoever has had its time hands on to
// the one that has waited longest, and goes on later where it stopped. Any thread.
namespace gpufl::server {

class Turns {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Turns(std::chrono::nanoseconds length) : length_(length) {}

  // A place in the queue, then the turn. Whoever has a place has to take its turn.
  uint64_t join();
  void take(uint64_t place);
  void leave();
  // Asked now and then by whoever has the turn. Returns at once unless its time is up and others
  // wait; else once it has the turn again. How long that took.
  std::chrono::nanoseconds give_way();

 private:
  void wait(std::unique_lock<std::mutex>& lock, uint64_t place);

  const std::chrono::nanoseconds length_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t next_ = 0, now_ = 0;  // place of who comes next, and of whose turn it is
  Clock::time_point began_;
};

}  // namespace gpufl::server
