// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/kill/kill_run.hpp"

namespace gpufl::bench {
namespace {

TEST(Kill, EverythingOlderThanAQuarterOfASecondIsReadable) {
  for (int run = 0; run < 3; ++run) {
    const std::chrono::milliseconds life = random_life();
    const KillOutcome outcome = kill_and_read(KILL_VICTIM, life);
    EXPECT_EQ(outcome.failures, std::vector<std::string>{})
        << "killed after " << life.count() << " ms";
    EXPECT_GT(outcome.scopes_owed, 0u);
  }
}

}  // namespace
}  // namespace gpufl::bench
