// SPDX-License-Identifier: Apache-2.0
#include "backend/range_plan.hpp"

#include <gtest/gtest.h>

namespace gpufl::backend {
namespace {

using Groups = std::vector<size_t>;

TEST(RangePlan, AScopeGetsAGroupEachTimeUntilItHasAll) {
  RangePlan plan;
  plan.set_groups({1, 1});
  EXPECT_TRUE(plan.is_complete());
  EXPECT_EQ(plan.begin("step"), 0u);
  EXPECT_FALSE(plan.is_complete());
  plan.end(true);
  EXPECT_EQ(plan.missing(), (std::map<std::string, Groups>{{"step", {1}}}));
  EXPECT_EQ(plan.begin("step"), 1u);
  plan.end(true);
  EXPECT_EQ(plan.begin("step"), std::nullopt);
  EXPECT_TRUE(plan.is_complete());
  EXPECT_TRUE(plan.missing().empty());
}

TEST(RangePlan, AGroupOfSeveralPassesIsFinishedBeforeAnotherScopeIsMeasured) {
  RangePlan plan;
  plan.set_groups({3});
  for (uint32_t pass = 0; pass < 3; ++pass) {
    EXPECT_EQ(plan.begin("step"), 0u);
    EXPECT_EQ(plan.pass(), pass);
    plan.end(pass == 2);
    EXPECT_EQ(plan.begin("load").has_value(), pass == 2);
  }
}

TEST(RangePlan, AGroupWhoseScopeDoesNotComeAgainIsGivenUp) {
  RangePlan plan;
  plan.set_groups({2, 1});
  EXPECT_EQ(plan.begin("once"), 0u);
  plan.end(false);
  for (uint32_t i = 1; i < RangePlan::kMostPassedOver; ++i) {
    ASSERT_EQ(plan.begin("step"), std::nullopt) << i;
  }
  EXPECT_EQ(plan.begin("step"), 0u);
  plan.end(true);
  EXPECT_EQ(plan.missing().at("once"), (Groups{0, 1}));
  EXPECT_EQ(plan.begin("once"), 1u) << "the next one";
}

TEST(RangePlan, WhatBeginsInsideIsMeasuredByTurns) {
  RangePlan plan;
  plan.set_groups({1, 1});
  EXPECT_EQ(plan.begin("step"), 0u);
  EXPECT_FALSE(plan.begin_inside("forward"));
  plan.end(true);
  EXPECT_EQ(plan.begin("step"), std::nullopt) << "so that there is none open when forward begins";
  EXPECT_EQ(plan.begin("forward"), 0u);
  plan.end(true);
  EXPECT_EQ(plan.begin("step"), 1u);
}

TEST(RangePlan, ALoopAroundScopesIsNotMeasured) {
  RangePlan plan;
  plan.set_groups({1});
  EXPECT_EQ(plan.begin("epoch"), 0u);
  for (uint32_t i = 1; i < RangePlan::kLoop; ++i) ASSERT_FALSE(plan.begin_inside("step")) << i;
  EXPECT_TRUE(plan.begin_inside("step"));
  plan.give_up(true);
  EXPECT_EQ(plan.begin("epoch"), std::nullopt);
  EXPECT_EQ(plan.begin("step"), 0u);
  plan.end(true);
  EXPECT_TRUE(plan.is_complete());
  EXPECT_TRUE(plan.missing().empty());
}

TEST(RangePlan, WhatWasOpenAndIsGivenUpBeginsItsGroupAnew) {
  RangePlan plan;
  plan.set_groups({3});
  plan.begin("step");
  plan.end(false);
  plan.begin("step");
  plan.give_up(false);
  plan.begin("step");
  EXPECT_EQ(plan.pass(), 1u) << "it was not even opened";
  plan.give_up(true);
  plan.begin("step");
  EXPECT_EQ(plan.pass(), 0u);
}

TEST(RangePlan, WarmUpsAndTooManyNamesAreLeftOut) {
  RangePlan plan;
  plan.set_groups({1});
  EXPECT_EQ(plan.begin("gemm_warmup"), std::nullopt);
  for (size_t i = 0; i < RangePlan::kMostScopes; ++i) {
    ASSERT_EQ(plan.begin("scope" + std::to_string(i)), 0u);
    plan.end(true);
  }
  EXPECT_EQ(plan.begin("one more"), std::nullopt);
  EXPECT_TRUE(plan.is_complete());
}

}  // namespace
}  // namespace gpufl::backend
