// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpufl::analysis {

// How much a second; 0 where it took no time.
constexpr double per_second(double amount, double duration_ns) {
  return duration_ns > 0 ? amount * 1e9 / duration_ns : 0;
}

}  // namespace gpufl::analysis
