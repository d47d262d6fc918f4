// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/activity.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace gpufl::analysis {
namespace {

using format::Batch;
using format::Kind;

TEST(ActivityTotals, AddsUpByKind) {
  Batch kernels(Kind::Kernel);
  kernels.mutable_column(format::kernel_column::kStart) = {10, 20};
  kernels.mutable_column(format::kernel_column::kDuration) = {5, 7};
  kernels.set_rows(2);
  Batch copies(Kind::Memcpy);
  copies.mutable_column(format::memcpy_column::kDuration) = {3};
  copies.mutable_column(format::memcpy_column::kBytes) = {4096};
  copies.set_rows(1);
  Batch waits(Kind::Sync);
  waits.mutable_column(format::sync_column::kDuration) = {100, 200, 300};
  waits.set_rows(3);
  Batch counters(Kind::Counter);
  counters.push_row({1, 1, 1});

  ActivityTotals totals;
  for (const Batch* batch : {&kernels, &copies, &waits, &counters, &kernels}) totals.add(*batch);
  EXPECT_EQ(totals, (ActivityTotals{.kernels = 4,
                                    .copies = 1,
                                    .waits = 3,
                                    .kernel_ns = 24,
                                    .copy_ns = 3,
                                    .wait_ns = 600,
                                    .copy_bytes = 4096}));
}

TEST(ActivityTotals, StopsAtTheEndOfTheRange) {
  Batch kernels(Kind::Kernel);
  kernels.mutable_column(format::kernel_column::kDuration) = {INT64_MAX, 5};
  kernels.set_rows(2);
  ActivityTotals totals;
  totals.add(kernels);
  EXPECT_EQ(totals.kernel_ns, INT64_MAX);
}

}  // namespace
}  // namespace gpufl::analysis
