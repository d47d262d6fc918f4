// SPDX-License-Identifier: Apache-2.0
#include "import/thread_spans.hpp"

#include <gtest/gtest.h>

namespace gpufl::importing {
namespace {

constexpr uint32_t kNone = ThreadSpans::kNone;

TEST(ThreadSpans, NestsByTimeWhateverTheOrder) {
  const std::vector<Span> spans = {
      {20, 10, 1, 0},  // 0: inside of 2
      {22, 3, 1, 0},   // 1: inside of 0
      {0, 100, 1, 0},  // 2: outermost
      {20, 10, 2, 0},  // 3: another thread's
      {0, 100, 1, 0},  // 4: as long as 2, and behind it in the list: inside
  };
  const ThreadSpans nested(spans);
  EXPECT_EQ(nested.parent(0), 4U);
  EXPECT_EQ(nested.parent(1), 0U);
  EXPECT_EQ(nested.parent(2), kNone);
  EXPECT_EQ(nested.parent(3), kNone);
  EXPECT_EQ(nested.parent(4), 2U);
}

TEST(ThreadSpans, HoldsFromTheBeginToBeforeTheEnd) {
  const std::vector<Span> spans = {{10, 20, 1, 0}, {15, 5, 1, 0}};
  const ThreadSpans nested(spans);
  EXPECT_EQ(nested.at(1, 9), kNone);
  EXPECT_EQ(nested.at(1, 10), 0U);
  EXPECT_EQ(nested.at(1, 15), 1U);
  EXPECT_EQ(nested.at(1, 19), 1U);
  EXPECT_EQ(nested.at(1, 20), 0U);
  EXPECT_EQ(nested.at(1, 29), 0U);
  EXPECT_EQ(nested.at(1, 30), kNone);
  EXPECT_EQ(nested.at(2, 15), kNone);
}

TEST(ThreadSpans, TakesSpansThatOverlapWithoutNesting) {
  const std::vector<Span> spans = {{0, 10, 1, 0}, {5, 20, 1, 0}, {12, 2, 1, 0}};
  const ThreadSpans nested(spans);
  EXPECT_EQ(nested.at(1, 3), 0U);
  EXPECT_EQ(nested.at(1, 11), 1U);
  EXPECT_EQ(nested.at(1, 13), 2U);
  EXPECT_EQ(nested.at(1, 20), 1U);
  EXPECT_EQ(nested.at(1, 25), kNone);
}

TEST(ThreadSpans, FindsTheOnlyThreadThatHasOne) {
  const std::vector<Span> spans = {{0, 30, 1, 0}, {10, 10, 2, 0}};
  const ThreadSpans nested(spans);
  EXPECT_EQ(nested.only_at(5), 0U);
  EXPECT_EQ(nested.only_at(15), kNone);
  EXPECT_EQ(nested.only_at(25), 0U);
  EXPECT_EQ(nested.only_at(30), kNone);
}

TEST(ThreadSpans, OfNothingIsNothing) {
  const std::vector<Span> spans;
  const ThreadSpans nested(spans);
  EXPECT_EQ(nested.at(1, 0), kNone);
  EXPECT_EQ(nested.only_at(0), kNone);
}

}  // namespace
}  // namespace gpufl::importing
