// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel_history.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace gpufl::capture {
namespace {

// Kernels `first` to `last`, whose correlation ids are their numbers.
format::Batch kernels(int64_t first, int64_t last) {
  namespace column = format::kernel_column;
  format::Batch batch(format::Kind::Kernel);
  for (int64_t number = first; number <= last; ++number) {
    batch.mutable_column(column::kStart).push_back(number * 1000);
    batch.mutable_column(column::kDuration).push_back(500);
    batch.mutable_column(column::kDevice).push_back(0);
    batch.mutable_column(column::kCorrelation).push_back(number);
    batch.set_rows(batch.rows() + 1);
  }
  return batch;
}

bool knows(const KernelHistory& history, int64_t number) {
  KernelQuery query;
  query.correlation = number;
  const KernelMatch match = history.find(query);
  return match.kernel && match.kernel->start_ns == number * 1000;
}

// Those from `first` to `last` are, and none before.
bool knows_only(const KernelHistory& history, int64_t first, int64_t last) {
  const int64_t step = std::max<int64_t>(1, (last - first) / 16);
  for (int64_t number = first; number <= last; number += step) {
    if (!knows(history, number)) return false;
  }
  return knows(history, last) && !knows(history, first - 1);
}

constexpr auto kFew = static_cast<int64_t>(KernelHistory::kUnexpected);
constexpr auto kMany = static_cast<int64_t>(KernelHistory::kKernels);

TEST(KernelHistory, AFewAreKeptWhileNobodyExpectsACapture) {
  KernelHistory history;
  history.add(kernels(1, 100));
  EXPECT_TRUE(knows_only(history, 1, 100));
  history.add(kernels(101, 3 * kFew));
  EXPECT_TRUE(knows_only(history, 2 * kFew + 1, 3 * kFew));
  history.add(kernels(3 * kFew + 1, 3 * kFew + 10));
  EXPECT_TRUE(knows_only(history, 2 * kFew + 11, 3 * kFew + 10));
}

TEST(KernelHistory, FromThenOnManyAre) {
  KernelHistory history;
  history.add(kernels(1, kFew + 300));  // its ring has come round
  history.expect_captures();
  EXPECT_TRUE(knows_only(history, 301, kFew + 300));
  history.add(kernels(kFew + 301, kMany + 300));
  EXPECT_TRUE(knows_only(history, 301, kMany + 300));
  history.expect_captures();
  history.add(kernels(kMany + 301, kMany + 700));
  EXPECT_TRUE(knows_only(history, 701, kMany + 700));  // the oldest go first
  history.add(kernels(kMany + 701, 3 * kMany));
  EXPECT_TRUE(knows_only(history, 2 * kMany + 1, 3 * kMany));
}

}  // namespace
}  // namespace gpufl::capture
