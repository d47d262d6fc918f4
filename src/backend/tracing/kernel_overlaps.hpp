// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/tracing/kernel_times.hpp"
#include "backend/tracing/pair_table.hpp"

// Counts kernels whose times contradict the order of their stream, by comparing each with the one
// whose record came before it on the same stream. Records of one thread's launches come in the
// order in which they ran, those of another thread in buffers of their own, earlier or later: of
// such two only that they ran at once is a contradiction. Of more than 16,384 streams all are
// forgotten, and the next kernel of each is not compared. The collector's thread only; some
// nanoseconds.
namespace gpufl::backend {

class KernelOverlaps {
 public:
  // `thread` launched it, 0: not known, and taken for the same.
  void add(uint32_t context, uint32_t stream, uint32_t thread, const KernelTimes& times) {
    Kernel& before = streams_.at(context, stream);
    const int64_t overlap_ns = overlap(before, thread, times);
    if (overlap_ns > 0) {
      ++count_;
      most_ns_ = std::max(most_ns_, overlap_ns);
    }
    before = {times, thread};
  }

  uint64_t count() const { return count_; }
  // The most by which one begins before the end of the one before; where their order is not known,
  // by which both run.
  int64_t most_ns() const { return most_ns_; }

 private:
  struct Kernel {
    KernelTimes times{};  // zeros: before all others
    uint32_t thread = 0;
  };

  static int64_t overlap(const Kernel& before, uint32_t thread, const KernelTimes& times) {
    const bool is_same_launch =
        times.correlation == before.times.correlation && times.correlation != 0;
    const bool is_other_thread = thread != before.thread && thread != 0 && before.thread != 0;
    const bool is_next_launch =
        is_newer(times.correlation, before.times.correlation) && !is_other_thread;
    if (is_same_launch || is_next_launch) return before.times.end - times.start;
    return std::min(before.times.end, times.end) - std::max(before.times.start, times.start);
  }

  PairTable<Kernel> streams_;
  uint64_t count_ = 0;
  int64_t most_ns_ = 0;
};

}  // namespace gpufl::backend
