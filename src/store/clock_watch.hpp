// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

// Whether the time of day can be believed, by which sessions grow old. One thread.
namespace gpufl::store {

class ClockWatch {
 public:
  static constexpr int64_t kStep_ms = 60'000;
  static constexpr int64_t kDistrust_ms = 3'600'000;

  // Asked every few seconds. False for an hour after one of the two clocks has stepped: somebody
  // may be about to set it right.
  bool may_trust(int64_t wall_ms, int64_t steady_ms) {
    const int64_t offset = wall_ms - steady_ms;
    if (offset_ && std::abs(offset - *offset_) > kStep_ms)
      distrusted_until_ = steady_ms + kDistrust_ms;
    offset_ = offset;
    return steady_ms >= distrusted_until_;
  }

 private:
  std::optional<int64_t> offset_;
  int64_t distrusted_until_ = INT64_MIN;
};

}  // namespace gpufl::store
