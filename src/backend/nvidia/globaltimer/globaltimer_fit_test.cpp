// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/globaltimer/globaltimer_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

namespace gpufl::backend {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// A timer that counts in ticks, from somewhere, at nearly the right rate.
struct Timer {
  int64_t offset_ns;
  double drift;
  int64_t tick_ns;

  uint64_t stamp(int64_t time_ns) const {
    const auto drifted = static_cast<int64_t>(std::floor(drift * static_cast<double>(time_ns)));
    const int64_t value = offset_ns + time_ns + drifted;
    return static_cast<uint64_t>(value - value % tick_ns);
  }
};

struct Random {
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  }
  std::mt19937_64 engine;
};

Timer any_timer(Random& random) {
  constexpr int64_t kTicks[] = {1, 32, 1024};
  return {random.between(1, int64_t{1} << 60), random.real(-90e-6, 90e-6),
          kTicks[random.between(0, 2)]};
}

// A kernel of `inside_ns` that reads the timer first and last, and is seen from outside a little
// early and a little late.
ClockBracket bracket(const Timer& timer, int64_t at_ns, int64_t inside_ns, int64_t early_ns,
                     int64_t late_ns) {
  return {timer.stamp(at_ns), timer.stamp(at_ns + inside_ns), at_ns - early_ns,
          at_ns + inside_ns + late_ns};
}

TEST(GlobaltimerFitTest, KnowsNothingWithoutABracket) {
  const GlobaltimerFit fit;
  EXPECT_FALSE(fit.place(1));
  EXPECT_FALSE(fit.stamp_at(1));
}

TEST(GlobaltimerFitTest, OneBracketIsHalfItsWidth) {
  GlobaltimerFit fit;
  fit.add({1'000'000, 1'000'000, 5'000, 6'000}, 32);
  const auto placed = fit.place(1'000'000);
  ASSERT_TRUE(placed);
  EXPECT_NEAR(static_cast<double>(placed->time_ns), 5'500, 1);
  EXPECT_GE(placed->error_ns, 500 + 32);
  EXPECT_LE(placed->error_ns, 500 + 32 + 3);
  // A second away nothing is known of the drift but its bound.
  const auto far = fit.place(1'000'000 + kSecondNs);
  ASSERT_TRUE(far);
  EXPECT_GT(far->error_ns, 90'000);
}

TEST(GlobaltimerFitTest, TheTruthIsWithinTheStatedErrorInEveryCase) {
  Random random(7);
  for (int i = 0; i < 5'000; ++i) {
    const Timer timer = any_timer(random);
    GlobaltimerFit fit;
    int64_t at_ns = random.between(0, 1000 * kSecondNs);
    const int64_t begin_ns = at_ns;
    const int64_t brackets = random.between(1, 12);
    for (int64_t k = 0; k < brackets; ++k) {
      fit.add(bracket(timer, at_ns, random.between(0, 200'000), random.between(0, 3'000),
                      random.between(0, 3'000)),
              timer.tick_ns);
      at_ns += int64_t{1} << random.between(10, 29);
    }
    for (int k = 0; k < 4; ++k) {
      const int64_t truth_ns =
          std::max<int64_t>(0, random.between(begin_ns - kSecondNs, at_ns + kSecondNs));
      const auto placed = fit.place(timer.stamp(truth_ns));
      ASSERT_TRUE(placed) << i;
      ASSERT_LE(std::abs(placed->time_ns - truth_ns), placed->error_ns) << i;
    }
  }
}

// A drift that changes by less than the bound, as clocks do that grow warm.
TEST(GlobaltimerFitTest, AWanderingDriftIsWithinTheStatedError) {
  Random random(11);
  for (int i = 0; i < 500; ++i) {
    const double turn = random.real(0.0, 1.0);
    const double bent = random.real(-0.15e-6, 0.15e-6);
    const int64_t offset_ns = random.between(1, int64_t{1} << 60);
    const auto stamp = [&](int64_t time_ns) {
      const double seconds = static_cast<double>(time_ns) * 1e-9;
      const double drift_ns = 2'300 * seconds + bent * 1e9 * std::abs(seconds - turn);
      const auto value = static_cast<uint64_t>(offset_ns + time_ns + std::llround(drift_ns));
      return value - value % 32;
    };
    GlobaltimerFit fit;
    for (int k = 0; k < 20; ++k) {
      const int64_t at_ns = k * kSecondNs / 20;
      fit.add({stamp(at_ns), stamp(at_ns + 50'000), at_ns - random.between(0, 600),
               at_ns + 50'000 + random.between(0, 600)},
              32);
    }
    for (int k = 0; k < 10; ++k) {
      const int64_t truth_ns = random.between(0, kSecondNs);
      const auto placed = fit.place(stamp(truth_ns));
      ASSERT_TRUE(placed) << i;
      ASSERT_LE(std::abs(placed->time_ns - truth_ns), placed->error_ns) << i;
    }
  }
}

// What the H200 showed: 0.87 us around a kernel, 2.3 us of drift a second, ticks of 32 ns.
TEST(GlobaltimerFitTest, KernelsGiveLessThanAMicrosecond) {
  const Timer timer{402'000, 2.3e-6, 32};
  GlobaltimerFit fit;
  fit.add(bracket(timer, 0, 60'000, 600, 350), 32);
  for (int launch = 1; launch <= 100; ++launch) {
    const int64_t at_ns = launch * int64_t{3'000'000};
    fit.add(bracket(timer, at_ns, 60'000, 600, 350), 32);
    const int64_t span_ns = at_ns - 1'000'000;
    const auto placed = fit.place(timer.stamp(span_ns));
    ASSERT_TRUE(placed);
    EXPECT_LE(placed->error_ns, 1'000) << launch;
    EXPECT_LE(std::abs(placed->time_ns - span_ns), placed->error_ns) << launch;
  }
}

TEST(GlobaltimerFitTest, AClockThatWasSetIsFollowed) {
  const Timer before{1'000'000, 2e-6, 32}, after{51'000'000, 2e-6, 32};
  GlobaltimerFit fit;
  for (int i = 0; i < 40; ++i) {
    fit.add(bracket(before, i * int64_t{1'000'000}, 10'000, 500, 500), 32);
  }
  const int64_t at_ns = 41'000'000;
  fit.add(bracket(after, at_ns, 10'000, 500, 500), 32);
  const auto placed = fit.place(after.stamp(at_ns));
  ASSERT_TRUE(placed);
  EXPECT_LE(std::abs(placed->time_ns - at_ns), placed->error_ns);
  EXPECT_LE(placed->error_ns, 1'000);
}

TEST(GlobaltimerFitTest, AnImpossibleBracketPlacesNothing) {
  GlobaltimerFit fit;
  fit.add({1'000, 1'000, 2'000, 1'000}, 32);
  EXPECT_FALSE(fit.place(1'000));
}

TEST(GlobaltimerFitTest, ManyBracketsAreBounded) {
  const Timer timer{77'000, -30e-6, 32};
  GlobaltimerFit fit;
  for (int i = 0; i < 2'000; ++i) {
    fit.add(bracket(timer, i * int64_t{2'000'000}, 50'000, 700, 400), 32);
  }
  const int64_t truth_ns = 1'990 * int64_t{2'000'000} + 1'000'000;
  const auto placed = fit.place(timer.stamp(truth_ns));
  ASSERT_TRUE(placed);
  EXPECT_LE(std::abs(placed->time_ns - truth_ns), placed->error_ns);
  EXPECT_LE(placed->error_ns, 700);
  const auto stamp = fit.stamp_at(truth_ns);
  ASSERT_TRUE(stamp);
  EXPECT_LE(std::llabs(static_cast<int64_t>(*stamp - timer.stamp(truth_ns))), 2'000);
}

}  // namespace
}  // namespace gpufl::backend
