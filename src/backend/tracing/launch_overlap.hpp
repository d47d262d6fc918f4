// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// Whether several threads of the program launch at the same time, as far as the launches of the
// last rounds show. Threads that take turns, as the forward and the backward pass of a training do,
// do not. The collector's thread.
namespace gpufl::backend {

class LaunchOverlap {
 public:
  // In whatever order.
  void add(uint32_t thread, int64_t time_ns) {
    const bool is_looked_at = time_ns % kEvery_ns < kSlice_ns;
    if (is_looked_at && launches_.size() < kMaxLaunches) launches_.emplace_back(time_ns, thread);
  }
  // What was added since the last call is one round's.
  void end_round();
  // Once seen, it stays: a program that did so does so again.
  bool is_seen() const { return is_seen_; }

 private:
  // A part of the time is looked at, so that the launches of all threads have room: those of a
  // thread come together.
  static constexpr int64_t kEvery_ns = 50'000'000, kSlice_ns = 10'000'000;
  static constexpr size_t kMaxLaunches = 65'536;

  std::vector<std::pair<int64_t, uint32_t>> launches_;
  bool is_seen_ = false;
};

}  // namespace gpufl::backend
