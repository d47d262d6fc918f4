// SPDX-License-Identifier: Apache-2.0
#include "net/worker_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace gpufl::net {

WorkerPool::WorkerPool(size_t threads, size_t max_waiting) : max_waiting_(max_waiting) {
  for (size_t i = 0; i < std::max<size_t>(threads, 1); ++i)
    threads_.emplace_back([this] { work(); });
}

bool WorkerPool::offer(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopped_ || jobs_.size() >= max_waiting_) return false;
    jobs_.push_back(std::move(job));
  }
  wakes_.notify_one();
  return true;
}

void WorkerPool::add(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopped_) return;
    jobs_.push_back(std::move(job));
  }
  wakes_.notify_one();
}

size_t WorkerPool::waiting() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

size_t WorkerPool::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

size_t WorkerPool::stop_within(std::chrono::milliseconds patience) {
  std::deque<Job> forgotten;  // outside of the lock: a job may hold the last of something
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    forgotten.swap(jobs_);
  }
  wakes_.notify_all();
  forgotten.clear();
  std::unique_lock lock(mutex_);
  rests_.wait_for(lock, patience, [this] { return running_ == 0; });
  return running_;
}

void WorkerPool::stop() {
  stop_within(std::chrono::milliseconds(0));
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkerPool::work() {
  pthread_setname_np(pthread_self(), "gpufl-worker");
  while (true) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      wakes_.wait(lock, [this] { return is_stopped_ || !jobs_.empty(); });
      if (is_stopped_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
      ++running_;
    }
    job();
    job = nullptr;  // what it holds is a part of it
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) rests_.notify_all();
  }
}

}  // namespace gpufl::net
