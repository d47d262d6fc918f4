// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/kill/kill_run.hpp"

namespace gpufl::bench {
namespace {

// How old what is missing may be is judged by kill_bench.
TEST(Kill, WhatCameToTheDiskIsReadableAndWithoutGaps) {
  for (int run = 0; run < 3; ++run) {
    const std::chrono::milliseconds life = random_life();
    const KillOutcome outcome = kill_and_read(KILL_VICTIM, life);
    EXPECT_EQ(outcome.failures, std::vector<std::string>{})
        << "killed after " << life.count() << " ms";
  }
}

}  // namespace
}  // namespace gpufl::bench
