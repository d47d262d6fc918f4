// SPDX-License-Identifier: Apache-2.0
#include "server/answer_budget.hpp"

#include <gtest/gtest.h>

namespace gpufl::server {
namespace {

TEST(AnswerBudget, IsSharedAndGivenBack) {
  AnswerBudget budget(100);
  {
    const auto one = budget.take(60);
    EXPECT_TRUE(one);
    EXPECT_FALSE(budget.take(41));
    EXPECT_TRUE(budget.take(40)) << "a refusal takes nothing";
  }
  auto all = budget.take(100);
  ASSERT_TRUE(all);
  const AnswerBudget::Share moved = std::move(*all);
  all.reset();
  EXPECT_FALSE(budget.take(1)) << "a share that moved is still held";
}

}  // namespace
}  // namespace gpufl::server
