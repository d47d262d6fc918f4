// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"

// Times that the program's own threads take thousands of times in a step: of the processor's
// counter, where the system makes its own clock of it. That touches no memory, while the way to the
// monotonic clock leads through the C library and the vDSO, whose lines a program that does
// anything else in between finds cold. The consumer of the events places them on the monotonic
// clock (TickClock).
namespace gpufl::base {

// Whether the counter of this machine runs evenly and alike on all cores. Asked once.
bool has_steady_counter();

inline uint64_t read_counter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return static_cast<uint64_t>(monotonic_ns());
#endif
}

// Any thread; no system call. `is_counter`: what has_steady_counter() said, kept where the caller
// has it at hand.
inline uint64_t read_ticks(bool is_counter) {
  return is_counter ? read_counter() : static_cast<uint64_t>(monotonic_ns());
}

// Places ticks on the monotonic clock, by both clocks read together now and then. One thread.
class TickClock {
 public:
  explicit TickClock(bool is_counter = has_steady_counter()) : is_counter_(is_counter) {}

  // Once when ticks begin to be read, then at every round that places some.
  void mark();
  // Of ticks that were read after the first mark, when there has been another.
  int64_t monotonic_ns(uint64_t ticks) const;

  struct Anchor {
    uint64_t ticks = 0;
    int64_t ns = 0;
  };
  void mark(Anchor both);

 private:
  // Ticks that are older than these, of calls that took seconds, or younger, are placed by their
  // mean rate.
  static constexpr size_t kAnchors = 64;
  const Anchor& anchor(size_t age) const { return anchors_[(count_ - 1 - age) % kAnchors]; }

  const bool is_counter_;
  size_t count_ = 0;  // of marks
  std::array<Anchor, kAnchors> anchors_;
};

}  // namespace gpufl::base
