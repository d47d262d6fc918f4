// SPDX-License-Identifier: Apache-2.0
#include "cli/run_control.hpp"

#include <gtest/gtest.h>

namespace gpufl::cli {
namespace {

using namespace std::chrono_literals;

TEST(Silences, OneThatIsSlowIsAskedAgainSoon) {
  const Silences::TimePoint start;
  Silences silences;
  EXPECT_TRUE(silences.is_due(7, start));
  silences.add(7, start);
  EXPECT_FALSE(silences.is_due(7, start));
  EXPECT_TRUE(silences.is_due(8, start));
  EXPECT_TRUE(silences.is_due(7, start + 1s));
}

TEST(Silences, OneThatStaysSilentIsAskedEverLater) {
  Silences::TimePoint now;
  Silences silences;
  for (const auto pause : {1s, 2s, 4s, 8s, 16s, 16s}) {
    silences.add(7, now);
    EXPECT_FALSE(silences.is_due(7, now + pause - 1ms)) << pause.count();
    now += pause;
    EXPECT_TRUE(silences.is_due(7, now)) << pause.count();
  }
}

TEST(Silences, AnAnswerEndsThem) {
  const Silences::TimePoint start;
  Silences silences;
  silences.add(7, start);
  silences.add(7, start);
  silences.end(7);
  EXPECT_TRUE(silences.is_due(7, start));
  silences.add(7, start);
  EXPECT_TRUE(silences.is_due(7, start + 1s));
}

}  // namespace
}  // namespace gpufl::cli
