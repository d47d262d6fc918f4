// SPDX-License-Identifier: Apache-2.0
#include "client/deep_condition.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpufl::client {
namespace {

using capture::DeepMetric;
using Order = capture::DeepCondition::Order;

TEST(DeepCondition, IsReadAsPeopleWriteIt) {
  const auto condition = parse_deep_condition("kernel_launch_rate<100 for 2s");
  ASSERT_TRUE(condition) << condition.status().message();
  EXPECT_EQ(condition->metric, DeepMetric::KernelLaunchRate);
  EXPECT_EQ(condition->order, Order::Less);
  EXPECT_DOUBLE_EQ(condition->limit, 100);
  EXPECT_EQ(condition->for_ns, 2'000'000'000);
  EXPECT_EQ(condition->text, "kernel_launch_rate<100 for 2s");
}

TEST(DeepCondition, BlanksAreFreeAndADurationIsNotNeeded) {
  const auto condition = parse_deep_condition("  gpu_utilization  >=  99.5\tfor  250ms ");
  ASSERT_TRUE(condition) << condition.status().message();
  EXPECT_EQ(condition->metric, DeepMetric::GpuUtilization);
  EXPECT_EQ(condition->order, Order::GreaterOrEqual);
  EXPECT_DOUBLE_EQ(condition->limit, 99.5);
  EXPECT_EQ(condition->for_ns, 250'000'000);
  EXPECT_EQ(condition->text, "gpu_utilization>=99.5 for 250ms");
  EXPECT_EQ(parse_deep_condition("kernel_launch_rate>5")->for_ns, 0);
  EXPECT_EQ(parse_deep_condition("kernel_launch_rate<=5")->order, Order::LessOrEqual);
  EXPECT_EQ(parse_deep_condition("kernel_launch_rate<5")->text, "kernel_launch_rate<5");
}

TEST(DeepCondition, SaysWhatIsWrongAndWhatWasMeant) {
  const auto refusal = [](const char* text) {
    const auto condition = parse_deep_condition(text);
    return condition ? std::string("it was read") : condition.status().message();
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_EQ(refusal("kernel_lanch_rate<100"),
            "'kernel_lanch_rate' is not one of kernel_launch_rate, gpu_utilization; did you mean "
            "'kernel_launch_rate'?");
  EXPECT_TRUE(has(refusal("kernel_launch_rate 100"), "has no operator; use <, <=, > or >="));
  EXPECT_EQ(refusal("kernel_launch_rate==100"), "'==' is not one of <, <=, >, >=");
  EXPECT_EQ(refusal("kernel_launch_rate!=100"), "'!=' is not one of <, <=, >, >=");
  EXPECT_TRUE(has(refusal("kernel_launch_rate<"), "there is no number after the operator"));
  EXPECT_TRUE(has(refusal("kernel_launch_rate<=>5"), "'>5' is not a number"));
  EXPECT_TRUE(has(refusal("kernel_launch_rate<many"), "'many' is not a number"));
  EXPECT_TRUE(has(refusal("kernel_launch_rate<nan"), "'nan' is not a number"));
  EXPECT_TRUE(has(refusal("kernel_launch_rate<-1"), "'-1' is out of range"));
  EXPECT_TRUE(has(refusal("gpu_utilization<101"), "use 0 to 100, in percent"));
  EXPECT_TRUE(has(refusal("kernel_launch_rate<100 2s"), "'100 2s' is not a number"));
  EXPECT_TRUE(has(refusal("kernel_launch_rate<100 for"), "after 'for': "));
  EXPECT_TRUE(has(refusal("kernel_launch_rate<100 for ever"), "after 'for': "));
  EXPECT_TRUE(has(refusal("kernel_launch_rate<100 for 2h"), "'2h' is out of range; use 0s to 1h"));
  EXPECT_TRUE(has(refusal("<100"), "there is no metric before the operator"));
  EXPECT_TRUE(has(refusal(""), "has no operator"));
}

}  // namespace
}  // namespace gpufl::client
