// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/kernel_overlaps.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace gpufl::backend {
namespace {

constexpr uint32_t kContext = 1, kStream = 7, kThread = 100, kOtherThread = 101;

// How many overlaps, and the longest of them in nanoseconds.
using Found = std::pair<uint64_t, int64_t>;

class KernelOverlapsTest : public testing::Test {
 protected:
  Found add(uint32_t correlation, int64_t start, int64_t end, uint32_t thread = kThread) {
    overlaps_.add(kContext, kStream, thread, {correlation, start, end});
    return found();
  }
  Found found() const { return {overlaps_.count(), overlaps_.most_ns()}; }

  KernelOverlaps overlaps_;
};

TEST_F(KernelOverlapsTest, NoneInOrder) {
  add(1, 1'000, 2'000);
  add(2, 2'000, 3'000);  // at once
  add(3, 3'500, 4'000);
  EXPECT_EQ(add(3, 4'000, 4'100), Found(0, 0));  // of the same launch
}

TEST_F(KernelOverlapsTest, BeginningBeforeTheOneBeforeHasEnded) {
  add(1, 1'000, 2'000);
  EXPECT_EQ(add(2, 1'700, 2'700), Found(1, 300));
  EXPECT_EQ(add(2, 2'690, 3'000), Found(2, 300));  // a node of the same graph
  EXPECT_EQ(add(3, 2'000, 9'000), Found(3, 1'000));
  EXPECT_EQ(add(4, 9'000, 9'500), Found(3, 1'000));
}

TEST_F(KernelOverlapsTest, InsideOfTheOneBefore) {
  add(1, 1'000, 9'000);
  EXPECT_EQ(add(2, 2'000, 3'000), Found(1, 7'000));
  EXPECT_EQ(add(3, 4'000, 5'000), Found(1, 7'000));  // compared with the one before alone
}

// As short kernels do when the clock is set back by more than they take.
TEST_F(KernelOverlapsTest, WhollyBeforeTheOneBefore) {
  add(1, 10'000, 10'700);
  add(1, 10'740, 11'400);
  EXPECT_EQ(add(1, 5'000, 5'700), Found(1, 6'400));
  EXPECT_EQ(add(2, 5'740, 6'400), Found(1, 6'400));
  EXPECT_EQ(add(3, 5'000, 5'100), Found(2, 6'400));
}

TEST_F(KernelOverlapsTest, RecordsThatComeLateAreNoOverlap) {
  add(1, 1'000, 2'000);
  add(3, 3'000, 4'000);
  add(2, 2'000, 3'000);
  EXPECT_EQ(add(4, 4'000, 5'000), Found(0, 0));
  EXPECT_EQ(add(3, 4'500, 4'900), Found(1, 400));  // late, and at the time of another
}

TEST_F(KernelOverlapsTest, ThreadsHaveBuffersOfTheirOwn) {
  for (uint32_t i = 1; i < 10; i += 2) add(i, i * 1'000, i * 1'000 + 900);
  for (uint32_t i = 2; i < 10; i += 2) add(i, i * 1'000, i * 1'000 + 900, kOtherThread);
  // A newer id, of a launch that ran earlier: whose ids and launches crossed.
  EXPECT_EQ(add(20, 7'950, 8'000), Found(0, 0));
  EXPECT_EQ(add(22, 7'990, 9'100, kOtherThread), Found(1, 10));
  EXPECT_EQ(add(23, 9'080, 9'200, 0), Found(2, 20));  // nobody knows whose: as if it were the same
  EXPECT_EQ(add(24, 9'000, 9'060), Found(3, 200));
}

TEST_F(KernelOverlapsTest, StreamsAndContextsAreApart) {
  add(1, 1'000, 5'000);
  overlaps_.add(kContext, kStream + 1, kThread, {2, 1'000, 5'000});
  overlaps_.add(kContext + 1, kStream, kThread, {3, 1'000, 5'000});
  EXPECT_EQ(found(), Found(0, 0));
  add(4, 4'000, 6'000);
  overlaps_.add(kContext + 1, kStream, kThread, {5, 4'500, 6'000});
  EXPECT_EQ(found(), Found(2, 1'000));
}

TEST_F(KernelOverlapsTest, IdsWrap) {
  add(UINT32_MAX, 1'000, 2'000);
  EXPECT_EQ(add(1, 500, 600), Found(1, 1'500));
}

// Nobody launched them, as far as is known: no order.
TEST_F(KernelOverlapsTest, WithoutAnId) {
  add(0, 2'000, 3'000, 0);
  EXPECT_EQ(add(0, 1'000, 2'000, 0), Found(0, 0));
  EXPECT_EQ(add(0, 1'500, 2'500, 0), Found(1, 500));
}

TEST_F(KernelOverlapsTest, SoManyStreamsThatTheyAreForgotten) {
  constexpr auto kStreams = static_cast<uint32_t>(PairTable<int>::kMaxValues);
  for (uint32_t stream = 0; stream < kStreams; ++stream) {
    overlaps_.add(kContext, stream, kThread, {1, 1'000, 5'000});
  }
  overlaps_.add(kContext, kStreams - 1, kThread, {2, 4'000, 5'000});
  EXPECT_EQ(found(), Found(1, 1'000));
  overlaps_.add(kContext, kStreams, kThread, {3, 1'000, 5'000});
  overlaps_.add(kContext, kStreams - 1, kThread, {4, 2'000, 3'000});  // like the first of all
  EXPECT_EQ(found(), Found(1, 1'000));
  overlaps_.add(kContext, kStreams, kThread, {5, 3'000, 6'000});
  EXPECT_EQ(found(), Found(2, 2'000));
}

}  // namespace
}  // namespace gpufl::backend
