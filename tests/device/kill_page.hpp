// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

// What a program that will be killed has done so far, in a file that outlives it: the program
// writes, the test reads after its death.
namespace gpufl::device_test {

struct KillPage {
  static constexpr int kLaunches = 100;  // a group
  static constexpr int64_t kGroups = 1 << 16;

  std::atomic<int64_t> groups;  // that have ended
  int64_t end_ns[kGroups];      // of the monotonic clock
};

}  // namespace gpufl::device_test
