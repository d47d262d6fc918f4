// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

// GPU clocks tick in steps of many nanoseconds (32 on recent NVIDIA parts) and drift against the
// host's clock by some parts in a million, so stamps sit on a slightly bent grid. A grid predicts
// stamps from tick counts; the writer states what is left over, so a bad grid costs bytes and
// never truth. Pure arithmetic on wrapping 64-bit integers: the same on every machine.
namespace gpufl::format {

struct TickGrid {
  static constexpr int kFractionBits = 40;

  int64_t tick_ns = 0;
  int64_t drift = 0;  // of one tick, in 2^-40 ns
  int64_t phase = 0;  // of tick 0, in 2^-40 ns: 0 to 2^40 - 1
  int64_t origin_ns = 0;

  int64_t stamp(int64_t ticks) const {
    const uint64_t k = static_cast<uint64_t>(ticks);
    const auto bend =
        static_cast<int64_t>(k * static_cast<uint64_t>(drift) + static_cast<uint64_t>(phase)) >>
        kFractionBits;
    return static_cast<int64_t>(static_cast<uint64_t>(origin_ns) +
                                k * static_cast<uint64_t>(tick_ns) + static_cast<uint64_t>(bend));
  }

  // The period in nanoseconds, drift included.
  double period_ns() const;
};

// The grid on which these events (start and duration, any order) lie, as far as a sample of some
// hundred tells. None when they lie on none, or are too few to be worth one.
std::optional<TickGrid> fit_tick_grid(std::span<const int64_t> starts,
                                      std::span<const int64_t> durations);

}  // namespace gpufl::format
