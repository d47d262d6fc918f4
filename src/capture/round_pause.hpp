// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

// How long the collector rests between its rounds: as long as it may, but not until a ring is full,
// nor until more of a vendor's records wait than need be, all of which are resident. One thread.
namespace gpufl::capture {

class RoundPause {
 public:
  using Milliseconds = std::chrono::milliseconds;
  static constexpr Milliseconds kLongest{50}, kShortest{2};
  static constexpr size_t kRoundBytes = size_t{2} << 20;  // of records, about, a round

  // After a round. `is_hurried`: a ring fills up before the next round if its thread gets a little
  // faster. Then, and when many records come, it is short at once; it gets longer slowly. `bytes`
  // of records came within `elapsed_ns`.
  Milliseconds next(bool is_hurried, size_t bytes, int64_t elapsed_ns) {
    pause_ = is_hurried ? pause_ / 4 : pause_ * 2;
    if (bytes > kRoundBytes) {
      const double part = static_cast<double>(kRoundBytes) / static_cast<double>(bytes);
      pause_ = std::min(pause_, Milliseconds(static_cast<int64_t>(static_cast<double>(elapsed_ns) *
                                                                  part / kMillisecond_ns)));
    }
    return pause_ = std::clamp(pause_, kShortest, kLongest);
  }
  Milliseconds now() const { return pause_; }

 private:
  static constexpr double kMillisecond_ns = 1e6;
  Milliseconds pause_ = kLongest;
};

}  // namespace gpufl::capture
