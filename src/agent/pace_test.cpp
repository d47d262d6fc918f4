// SPDX-License-Identifier: Apache-2.0
#include "agent/pace.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gpufl::agent {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DoublesUpToAMinute) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Backoff backoff(seed);
    auto most = 1000ms;
    for (int i = 0; i < 20; ++i) {
      const auto wait = backoff.next({});
      EXPECT_GE(wait, most / 2);
      EXPECT_LE(wait, most);
      most = std::min(most * 2, 60000ms);
    }
    backoff.succeed();
    EXPECT_LE(backoff.next({}), 1000ms);
  }
}

TEST(Backoff, WaitsAtLeastAsLongAsTheServerAsks) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Backoff backoff(seed);
    const auto wait = backoff.next(20s);
    EXPECT_GE(wait, 20s);
    EXPECT_LE(wait, 30s);
    EXPECT_LE(backoff.next(0s), 500ms);
  }
}

TEST(Backoff, SendersDoNotComeBackAtOnce) {
  std::set<int64_t> waits;
  for (uint64_t seed = 0; seed < 50; ++seed) waits.insert(Backoff(seed).next(10s).count());
  EXPECT_GT(waits.size(), 40u);
}

TEST(Throttle, LetsSoManyBytesThroughEachSecond) {
  const Throttle::Clock::time_point start{};
  Throttle throttle(1000);
  EXPECT_EQ(throttle.take(1000, start), 0s) << "a second's worth at once";
  EXPECT_EQ(throttle.take(500, start), 500ms);
  EXPECT_EQ(throttle.take(500, start), 1000ms);
  EXPECT_EQ(throttle.take(0, start + 1s), 0s);
  EXPECT_EQ(throttle.take(3000, start + 100s), 2s) << "what was not used earlier is gone";
  EXPECT_EQ(Throttle(0).take(1'000'000'000, start), 0s);
}

TEST(SleepFor, CanBeStopped) {
  int asked = 0;
  EXPECT_FALSE(sleep_for(1h, [&] { return ++asked > 2; }));
  EXPECT_TRUE(sleep_for(0s, {}));
}

}  // namespace
}  // namespace gpufl::agent
