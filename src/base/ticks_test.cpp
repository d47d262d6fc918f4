// SPDX-License-Identifier: Apache-2.0
#include "base/ticks.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace gpufl::base {
namespace {

TEST(TickClock, PlacesTicksOnTheLineBetweenTwoMarks) {
  TickClock clock(true);
  clock.mark({1'000, 5'000});
  clock.mark({3'000, 6'000});  // two ticks a nanosecond
  EXPECT_EQ(clock.monotonic_ns(1'000), 5'000);
  EXPECT_EQ(clock.monotonic_ns(2'000), 5'500);
  EXPECT_EQ(clock.monotonic_ns(3'000), 6'000);
}

TEST(TickClock, FollowsARateThatChanges) {
  TickClock clock(true);
  clock.mark({0, 0});
  clock.mark({2'000, 1'000});
  clock.mark({4'000, 3'000});  // one tick a nanosecond: the system slews its clock
  EXPECT_EQ(clock.monotonic_ns(1'000), 500);
  EXPECT_EQ(clock.monotonic_ns(3'000), 2'000);
  // Younger than the last mark: by the mean rate, not by that of an interval that may be short.
  EXPECT_EQ(clock.monotonic_ns(4'400), 3'300);
}

TEST(TickClock, PlacesWhatIsOlderThanItsMarksByTheirMeanRate) {
  TickClock clock(true);
  for (uint64_t i = 0; i < 1'000; ++i) clock.mark({i * 200, static_cast<int64_t>(i * 100)});
  EXPECT_EQ(clock.monotonic_ns(199'700), 99'850);
  EXPECT_EQ(clock.monotonic_ns(40), 20);
}

TEST(TickClock, LeavesOutMarksThatMakeNoLine) {
  TickClock clock(true);
  clock.mark({1'000, 5'000});
  clock.mark({1'200, 5'000});
  clock.mark({3'000, 6'000});
  EXPECT_EQ(clock.monotonic_ns(2'000), 5'500);
}

TEST(TickClock, BeginsAnewWithACounterThatDoes) {
  TickClock clock(true);
  clock.mark({9'000'000'000'000, 5'000});
  clock.mark({9'000'000'002'000, 6'000});
  clock.mark({1'000, 7'000});
  EXPECT_EQ(clock.monotonic_ns(1'000), 7'000);
  clock.mark({3'000, 8'000});
  EXPECT_EQ(clock.monotonic_ns(2'000), 7'500);
  // Of the old counter: not far in the future, at least.
  EXPECT_LE(clock.monotonic_ns(9'000'000'001'000), 1'000'008'000);
}

TEST(TickClock, WithoutACounterTicksAreTheMonotonicClock) {
  TickClock clock(false);
  const int64_t before = monotonic_ns();
  const uint64_t ticks = read_ticks(false);
  const int64_t after = monotonic_ns();
  clock.mark();
  clock.mark();
  EXPECT_GE(clock.monotonic_ns(ticks), before);
  EXPECT_LE(clock.monotonic_ns(ticks), after);
}

// Where the counter is not steady this compares the monotonic clock with itself.
TEST(TickClock, AgreesWithTheMonotonicClock) {
  const bool is_counter = has_steady_counter();
  TickClock clock(is_counter);
  clock.mark();
  struct Reading {
    int64_t before;
    uint64_t ticks;
    int64_t after;
  };
  std::vector<Reading> readings;
  for (int i = 0; i < 200; ++i) {
    const int64_t before = monotonic_ns();
    const uint64_t ticks = read_ticks(is_counter);
    readings.push_back({before, ticks, monotonic_ns()});
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (i % 50 == 49) clock.mark();
  }
  constexpr int64_t kSlackNs = 2'000;  // a mark may be torn apart by the system, five times over
  for (const Reading& reading : readings) {
    EXPECT_GE(clock.monotonic_ns(reading.ticks), reading.before - kSlackNs);
    EXPECT_LE(clock.monotonic_ns(reading.ticks), reading.after + kSlackNs);
  }
}

}  // namespace
}  // namespace gpufl::base
