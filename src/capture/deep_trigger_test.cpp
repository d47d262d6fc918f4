// SPDX-License-Identifier: Apache-2.0
#include "capture/deep_trigger.hpp"

#include <gtest/gtest.h>

#include "backend/metric_table.hpp"

namespace gpufl::capture {
namespace {

constexpr int64_t kMs_ns = 1'000'000;
constexpr int64_t kS_ns = 1000 * kMs_ns;

TEST(RateOfCount, IsThatOfTheLastSecond) {
  RateOfCount rate;
  uint64_t count = 0;
  int64_t now_ns = 0;
  for (; now_ns < kS_ns; now_ns += 20 * kMs_ns) {
    EXPECT_EQ(rate.add(now_ns, count), std::nullopt) << "too short to tell";
    count += 4;
  }
  EXPECT_DOUBLE_EQ(*rate.add(now_ns, count), 200);
  for (int64_t end_ns = now_ns + kS_ns; now_ns < end_ns; now_ns += 20 * kMs_ns) {
    (void)rate.add(now_ns, count);
  }
  EXPECT_DOUBLE_EQ(*rate.add(now_ns, count), 0) << "nothing was launched in it";
  EXPECT_DOUBLE_EQ(*rate.add(now_ns + 10 * kS_ns, count + 100), 10) << "over what is known";
}

TEST(RateOfCount, BeginsAnewWithACountThatFalls) {
  RateOfCount rate;
  (void)rate.add(0, 1000);
  EXPECT_TRUE(rate.add(kS_ns, 2000));
  EXPECT_FALSE(rate.add(kS_ns + kMs_ns, 3)) << "another tracer's";
  EXPECT_DOUBLE_EQ(*rate.add(2 * kS_ns + kMs_ns, 8), 5);
  rate.reset();
  EXPECT_FALSE(rate.add(3 * kS_ns, 9));
}

TEST(DeepCondition, HoldsAsItsOperatorSays) {
  using Order = DeepCondition::Order;
  const auto holds = [](Order order, double value) {
    return DeepCondition{DeepMetric::KernelLaunchRate, order, 100, 0, ""}.holds(value);
  };
  EXPECT_TRUE(holds(Order::Less, 99) && !holds(Order::Less, 100));
  EXPECT_TRUE(holds(Order::LessOrEqual, 100) && !holds(Order::LessOrEqual, 100.5));
  EXPECT_TRUE(holds(Order::Greater, 101) && !holds(Order::Greater, 100));
  EXPECT_TRUE(holds(Order::GreaterOrEqual, 100) && !holds(Order::GreaterOrEqual, 99));
}

TEST(ConditionWatch, WantsItToHoldForLongEnough) {
  ConditionWatch watch(
      {DeepMetric::KernelLaunchRate, DeepCondition::Order::Less, 100, 2 * kS_ns, ""});
  EXPECT_FALSE(watch.see(0, 50));
  EXPECT_FALSE(watch.see(kS_ns, 50));
  EXPECT_FALSE(watch.see(2 * kS_ns - 1, 150)) << "not any more";
  EXPECT_FALSE(watch.see(3 * kS_ns, 50)) << "from here on";
  EXPECT_FALSE(watch.see(4 * kS_ns, std::nullopt)) << "nobody knows";
  EXPECT_FALSE(watch.see(5 * kS_ns, 50));
  EXPECT_FALSE(watch.see(7 * kS_ns - 1, 50));
  EXPECT_TRUE(watch.see(7 * kS_ns, 50));
  watch.reset();
  EXPECT_FALSE(watch.see(8 * kS_ns, 50));
}

TEST(ConditionWatch, OnceIsEnoughWithoutADuration) {
  ConditionWatch watch({DeepMetric::GpuUtilization, DeepCondition::Order::Greater, 90, 0, ""});
  EXPECT_FALSE(watch.see(0, 90));
  EXPECT_TRUE(watch.see(1, 91));
}

TEST(GpuUtilization, IsThatOfTheBusiestGpu) {
  MetricBoard board;
  board.time_ns = 10 * kS_ns;
  EXPECT_EQ(gpu_utilization(board, board.time_ns), std::nullopt) << "there is no GPU";
  board.device_values = {{0, 0, backend::metric::kGpuUtil, 20},
                         {1, 0, backend::metric::kGpuUtil, 70},
                         {1, 0, backend::metric::kMemoryUtil, 99}};
  EXPECT_DOUBLE_EQ(*gpu_utilization(board, board.time_ns), 70);
  EXPECT_EQ(gpu_utilization(board, 13 * kS_ns), std::nullopt) << "too long ago";
}

}  // namespace
}  // namespace gpufl::capture
