// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// %globaltimer on another clock, from brackets: pairs of moments on that clock between which the
// timer was read. The two run at nearly the same, nearly constant rates; within that, every answer
// comes with an error that it cannot exceed, not a likely one. docs/design/warpscope-clock.md has
// the maths. Pure; one thread at a time; memory is bounded, an answer takes some 50 us.
namespace gpufl::backend {

// The timer read `first` not before `not_before_ns`, and `last`, no earlier than that, not after
// `not_after_ns`. One reading: both are the same.
struct ClockBracket {
  uint64_t first = 0, last = 0;
  int64_t not_before_ns = 0, not_after_ns = 0;
};

struct FittedTime {
  int64_t time_ns = 0;
  int64_t error_ns = 0;
};

class GlobaltimerFit {
 public:
  static constexpr size_t kMaxBrackets = 128;  // the newest
  // What two clocks of one machine can differ by, and by how much that can change meanwhile.
  static constexpr double kMaxDrift = 100e-6;
  static constexpr double kMaxWander = 0.2e-6;

  // `tick_ns`: how finely the timer counts. Brackets come in the order of time.
  void add(const ClockBracket& bracket, int64_t tick_ns);
  // Where a stamp of the timer lies; nothing before the first bracket.
  std::optional<FittedTime> place(uint64_t stamp) const;
  // The stamp that the timer has about then: within kMaxDrift of the distance to the brackets.
  std::optional<uint64_t> stamp_at(int64_t time_ns) const;

 private:
  // A bound on the clocks' difference at `x`, both counted from the newest bracket.
  struct Bound {
    double x, difference;
  };
  struct Drift {
    double lowest, highest;
  };
  struct Bounds {
    std::vector<Bound> below, above;
    Drift drift;
  };
  // Of the newest `count` brackets; nothing where they contradict each other.
  std::optional<Bounds> bounds(size_t count) const;

  std::vector<ClockBracket> brackets_;
  int64_t tick_ns_ = 0;
};

}  // namespace gpufl::backend
