// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

// A fixed number of threads that do jobs in the order in which they come. Any thread may hand jobs
// in; they must not throw. stop() is the owner's.
namespace gpufl::net {

class WorkerPool {
 public:
  using Job = std::function<void()>;

  WorkerPool(size_t threads, size_t max_waiting);
  ~WorkerPool() { stop(); }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False: as many wait as may, or it was stopped.
  bool offer(Job job);
  // The next part of work that was taken before; whoever took it has a bound already.
  void add(Job job);
  size_t waiting() const;
  size_t running() const;
  // Forgets what waits, takes nothing any more, and waits up to that long for the jobs that run.
  // Returns how many of them have not ended.
  size_t stop_within(std::chrono::milliseconds patience);
  // Likewise, and returns once all have ended.
  void stop();

 private:
  void work();

  const size_t max_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable wakes_, rests_;
  std::deque<Job> jobs_;
  size_t running_ = 0;
  bool is_stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gpufl::net
