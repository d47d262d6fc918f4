// SPDX-License-Identifier: Apache-2.0
#include "format/tick_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace gpufl::format {
namespace {

struct Events {
  std::vector<int64_t> starts, durations;
};

// Events on a grid, a stamp in eight a nanosecond off.
Events on_grid(double period_ns, size_t count, int64_t max_gap_ticks, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto stamp = [&](int64_t tick) {
    const auto exact =
        static_cast<int64_t>(std::floor(1e9 + 0.3 + period_ns * static_cast<double>(tick) + 0.5));
    return random() % 8 != 0 ? exact : exact + (random() % 2 == 0 ? 1 : -1);
  };
  Events events;
  int64_t tick = 0;
  for (size_t i = 0; i < count; ++i) {
    tick += 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(max_gap_ticks));
    const int64_t start = stamp(tick);
    events.starts.push_back(start);
    events.durations.push_back(stamp(tick + 40 + static_cast<int64_t>(random() % 500)) - start);
  }
  return events;
}

// The share of starts that the grid predicts to the nanosecond.
double share_on(const TickGrid& grid, const Events& events) {
  size_t exact = 0;
  for (const int64_t start : events.starts) {
    const auto ticks = std::llround(static_cast<double>(start - grid.origin_ns) / grid.period_ns());
    exact += grid.stamp(ticks) == start;
  }
  return static_cast<double>(exact) / static_cast<double>(events.starts.size());
}

TEST(TickGrid, FindsTickAndDrift) {
  for (const double drift : {-60e-6, -14.35e-6, 0.0, 3e-6, 60e-6}) {
    for (const size_t count : {64, 1000, 16384}) {
      const Events events = on_grid(32 * (1 + drift), count, 2500, 3);
      const auto grid = fit_tick_grid(events.starts, events.durations);
      ASSERT_TRUE(grid) << drift << " " << count;
      EXPECT_EQ(grid->tick_ns, 32);
      EXPECT_GT(share_on(*grid, events), 0.80) << drift << " " << count;
    }
  }
}

TEST(TickGrid, CountsOverLongGapsOnceThePeriodIsKnown) {
  Events events = on_grid(32 * (1 - 14.35e-6), 4000, 2500, 5);
  // Half a second of nothing: 7,000 ns of drift.
  const int64_t gap = std::llround(32 * (1 - 14.35e-6) * 15'625'000);
  for (size_t i = 2000; i < events.starts.size(); ++i) events.starts[i] += gap;
  const auto grid = fit_tick_grid(events.starts, events.durations);
  ASSERT_TRUE(grid);
  EXPECT_GT(share_on(*grid, events), 0.80);
}

TEST(TickGrid, PrefersTheLongestTick) {
  Events events = on_grid(1000, 500, 50, 9);
  const auto grid = fit_tick_grid(events.starts, events.durations);
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->tick_ns, 1000);
}

TEST(TickGrid, FindsNoneWhereThereIsNone) {
  std::mt19937_64 random(1);
  Events events;
  for (int i = 0; i < 5000; ++i) {
    events.starts.push_back(i * 40'000 + static_cast<int64_t>(random() % 40'000));
    events.durations.push_back(1000 + static_cast<int64_t>(random() % 10'000));
  }
  EXPECT_FALSE(fit_tick_grid(events.starts, events.durations));
  EXPECT_FALSE(fit_tick_grid({}, {}));
}

TEST(TickGrid, ExtremeStampsGiveNoneAndNoHarm) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> starts;
  std::vector<int64_t> durations;
  for (int i = 0; i < 200; ++i) {
    starts.push_back(i % 2 == 0 ? kMin : kMax);
    durations.push_back(64 * i);
  }
  EXPECT_FALSE(fit_tick_grid(starts, durations));
  const TickGrid wild{kMax, kMin, kMax, kMin};
  EXPECT_EQ(wild.stamp(0), wild.stamp(0));
  EXPECT_EQ((TickGrid{32, 0, 0, 100}.stamp(3)), 196);
  // -2^-40 ns a tick: the first tick is already a nanosecond short of its floor.
  EXPECT_EQ((TickGrid{32, -1, 0, 100}.stamp(1)), 131);
}

}  // namespace
}  // namespace gpufl::format
