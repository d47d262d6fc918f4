// SPDX-License-Identifier: Apache-2.0
#include "server/turns.hpp"

namespace gpufl::server {

void Turns::wait(std::unique_lock<std::mutex>& lock, uint64_t place) {
  changed_.wait(lock, [&] { return now_ == place; });
  began_ = Clock::now();
}

uint64_t Turns::join() {
  const std::lock_guard lock(mutex_);
  return next_++;
}

void Turns::take(uint64_t place) {
  std::unique_lock lock(mutex_);
  wait(lock, place);
}

void Turns::leave() {
  {
    const std::lock_guard lock(mutex_);
    ++now_;
  }
  changed_.notify_all();
}

std::chrono::nanoseconds Turns::give_way() {
  std::unique_lock lock(mutex_);
  const Clock::time_point before = Clock::now();
  const bool others_wait = next_ - now_ > 1;
  if (!others_wait || before - began_ < length_) return {};
  ++now_;
  changed_.notify_all();
  wait(lock, next_++);
  return began_ - before;
}

}  // namespace gpufl::server
