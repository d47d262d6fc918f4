// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// A lock that is held through calls of a vendor's library, which may take as long as they like: so
// others wait for it with a bound.
namespace gpufl::capture {

class BoundedMutex {
 public:
  // False: somebody still holds it after `patience`.
  bool try_lock_for(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    if (!cv_.wait_for(lock, patience, [&] { return !is_held_; })) return false;
    is_held_ = true;
    return true;
  }
  void lock() {
    std::unique_lock lock(mutex_);
    cv_.wait(lock, [&] { return !is_held_; });
    is_held_ = true;
  }
  void unlock() {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
    cv_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable cv_;
  bool is_held_ = false;
};

// Holds it, if it could be had in time, until the end of the block.
class BoundedLock {
 public:
  BoundedLock(BoundedMutex& mutex, std::chrono::milliseconds patience)
      : mutex_(mutex), is_held_(mutex.try_lock_for(patience)) {}
  ~BoundedLock() {
    if (is_held_) mutex_.unlock();
  }
  BoundedLock(const BoundedLock&) = delete;
  BoundedLock& operator=(const BoundedLock&) = delete;

  explicit operator bool() const { return is_held_; }

 private:
  BoundedMutex& mutex_;
  const bool is_held_;
};

}  // namespace gpufl::capture
