// SPDX-License-Identifier: Apache-2.0
#include "capture/step_cost.hpp"

#include <gtest/gtest.h>

#include <functional>

// Steps of a program that is recorded for a second in every ten.
namespace gpufl::capture {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kSecond = 1000 * kMillisecond;

struct Loop {
  int64_t name = 1;
  std::function<double(int64_t)> step_ms = [](int64_t) { return 20.0; };  // by time
  double slowdown = 0.2;
};

// `phases` of them, each from second 10 n + 5 on; attaching and detaching take 20 ms.
void run(StepCost& cost, const Loop& loop, int phases) {
  int64_t now_ns = 0;
  for (int i = 0; i < phases; ++i) {
    const int64_t begin_ns = (10 * i + 5) * kSecond, end_ns = begin_ns + kSecond;
    const auto step = [&](bool is_recorded) {
      const double factor = is_recorded ? 1 + loop.slowdown : 1;
      const auto took_ns =
          static_cast<int64_t>(loop.step_ms(now_ns) * factor * static_cast<double>(kMillisecond));
      cost.add({loop.name, now_ns, now_ns + took_ns});
      now_ns += took_ns;
    };
    while (now_ns < begin_ns) step(false);
    cost.begin_phase(begin_ns, begin_ns + 20 * kMillisecond);
    while (now_ns < end_ns) step(true);
    cost.end_phase(end_ns - 20 * kMillisecond, end_ns);
  }
  for (const int64_t end_ns = (10 * phases + 3) * kSecond; now_ns < end_ns;) {
    const auto took_ns = static_cast<int64_t>(loop.step_ms(now_ns) * kMillisecond);
    cost.add({loop.name, now_ns, now_ns + took_ns});
    now_ns += took_ns;
  }
}

TEST(StepCost, IsWhatStepsTakeLonger) {
  StepCost cost;
  run(cost, {}, 5);
  ASSERT_TRUE(cost.slowdown());
  EXPECT_NEAR(cost.slowdown()->part, 0.2, 0.001);
  EXPECT_EQ(cost.slowdown()->step_ns, 24 * kMillisecond);
}

TEST(StepCost, SaysNothingBeforeThreePhases) {
  for (int phases = 0; phases < 3; ++phases) {
    StepCost cost;
    run(cost, {}, phases);
    EXPECT_FALSE(cost.slowdown()) << phases;
  }
}

TEST(StepCost, NeedsEnoughStepsInside) {
  StepCost cost;
  Loop loop;
  loop.step_ms = [](int64_t) { return 150.0; };  // five or six in a phase
  run(cost, loop, 9);
  EXPECT_FALSE(cost.slowdown());
}

// A model whose sequences get longer and longer.
TEST(StepCost, DriftIsNotCost) {
  StepCost cost;
  Loop loop;
  loop.step_ms = [](int64_t now_ns) { return 10 + static_cast<double>(now_ns) / kSecond * 0.2; };
  run(cost, loop, 9);
  ASSERT_TRUE(cost.slowdown());
  EXPECT_NEAR(cost.slowdown()->part, 0.2, 0.02);
}

TEST(StepCost, OneOddPhaseDoesNotCount) {
  StepCost cost;
  Loop loop;
  loop.step_ms = [](int64_t now_ns) {
    const bool is_odd = now_ns > 35 * kSecond && now_ns < 36 * kSecond;
    return is_odd ? 60.0 : 20.0;
  };
  run(cost, loop, 7);
  ASSERT_TRUE(cost.slowdown());
  EXPECT_NEAR(cost.slowdown()->part, 0.2, 0.01);
}

TEST(StepCost, NeverNegative) {
  StepCost cost;
  Loop loop;
  loop.slowdown = -0.1;
  run(cost, loop, 5);
  ASSERT_TRUE(cost.slowdown());
  EXPECT_EQ(cost.slowdown()->part, 0.0);
}

TEST(StepCost, TheNameWithMostOfTheTimeDecides) {
  StepCost both;
  for (int i = 0; i < 5; ++i) {
    const int64_t begin_ns = (10 * i + 5) * kSecond, end_ns = begin_ns + kSecond;
    for (int64_t t = i * 10 * kSecond + kSecond; t + 40 * kMillisecond < begin_ns;
         t += 40 * kMillisecond) {
      both.add({1, t, t + 30 * kMillisecond});
      both.add({2, t, t + 5 * kMillisecond});
    }
    both.begin_phase(begin_ns, begin_ns);
    for (int64_t t = begin_ns; t + 60 * kMillisecond < end_ns; t += 60 * kMillisecond) {
      both.add({1, t, t + 45 * kMillisecond});
      both.add({2, t, t + 5 * kMillisecond});
    }
    both.end_phase(end_ns, end_ns);
  }
  ASSERT_TRUE(both.slowdown());
  EXPECT_NEAR(both.slowdown()->part, 0.5, 0.001);
}

TEST(StepCost, BriefAndUnnamedlyManyStepsAreLeftOut) {
  StepCost cost;
  for (int64_t name = 0; name < 1000; ++name) {
    cost.add({name, 0, kMillisecond / 2});
    cost.add({name, 0, kSecond});
  }
  EXPECT_FALSE(cost.slowdown());
}

}  // namespace
}  // namespace gpufl::capture
