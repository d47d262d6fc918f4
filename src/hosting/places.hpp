// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// Places among those who do something costly: a few at a time, and a few more that wait for a
// moment. Any thread.
namespace gpufl::hosting {

class Places {
 public:
  Places(int at_once, int waiting, std::chrono::milliseconds patience)
      : at_once_(at_once), most_waiting_(waiting), patience_(patience) {}

  class Place {
   public:
    explicit Place(Places& places) : places_(places), has_it_(places.take()) {}
    ~Place() {
      if (has_it_) places_.leave();
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    // False: too many wait already, or it took too long.
    explicit operator bool() const { return has_it_; }

   private:
    Places& places_;
    const bool has_it_;
  };

  int waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  bool take() {
    std::unique_lock lock(mutex_);
    if (running_ >= at_once_ && waiting_ >= most_waiting_) return false;
    ++waiting_;
    const bool has_it = changed_.wait_for(lock, patience_, [&] { return running_ < at_once_; });
    --waiting_;
    if (has_it) ++running_;
    return has_it;
  }
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      --running_;
    }
    changed_.notify_one();
  }

  const int at_once_, most_waiting_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  int running_ = 0, waiting_ = 0;
};

}  // namespace gpufl::hosting
