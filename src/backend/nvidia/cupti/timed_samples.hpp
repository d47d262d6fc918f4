// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// Which chips can be sampled over time, at an interval of nanoseconds.
namespace gpufl::backend {

// As CUPTI's header says (CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL): Turing and GA100, the
// chip of the A100, only count clocks.
inline bool has_timed_samples(std::string_view chip) {
  return chip != "GA100" && !chip.starts_with("TU");
}
inline constexpr const char* kNoTimedSamples =
    "has no samples at an interval of time, which Turing and GA100 lack";

}  // namespace gpufl::backend
