// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/pending_work.hpp"

#include <gtest/gtest.h>

namespace gpufl::analysis {
namespace {

using format::Batch;
using format::Kind;

Batch pending(std::initializer_list<int64_t> ids) {
  Batch batch(Kind::Pending);
  for (const int64_t id : ids) {
    // time, function, thread, device, correlation, scope, inherited, stack
    batch.push_row({1'000 - id, 0, 4711, 2, id, 9, 0, 0});
  }
  return batch;
}

TEST(PendingTable, KeepsWhatNoLaterRowEnds) {
  NameTable names;
  const format::Dictionaries dictionaries;
  PendingTable table(names);
  Batch before(Kind::Kernel);
  before.mutable_column(format::kernel_column::kCorrelation) = {1};
  before.set_rows(1);
  table.add(before, dictionaries);  // an earlier use of the id
  table.add(pending({1, 2, 3, 4}), dictionaries);
  Batch kernel(Kind::Kernel);
  kernel.mutable_column(format::kernel_column::kCorrelation) = {2, 77};
  kernel.set_rows(2);
  table.add(kernel, dictionaries);
  Batch call(Kind::Api);
  call.mutable_column(format::api_column::kCorrelation) = {4};
  call.set_rows(1);
  table.add(call, dictionaries);
  const auto left = table.finish();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].correlation, 3) << "oldest first";
  EXPECT_EQ(left[1].correlation, 1);
  EXPECT_EQ(left[1].time_ns, 999);
  EXPECT_EQ(left[1].thread, 4711);
  EXPECT_EQ(left[1].device, 2);
  EXPECT_EQ(left[1].scope, 9);
}

TEST(PendingTable, RowsOfTheSameFlushStandBefore) {
  NameTable names;
  const format::Dictionaries dictionaries;
  PendingTable table(names);
  Batch kernel(Kind::Kernel);
  kernel.mutable_column(format::kernel_column::kStart) = {900, 1'200, 1'300};
  kernel.mutable_column(format::kernel_column::kCorrelation) = {1, 2, 77};
  kernel.set_rows(3);
  table.add(kernel, dictionaries);
  table.add(pending({1, 2, 3}), dictionaries);
  const auto left = table.finish();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].correlation, 3);
  EXPECT_EQ(left[1].correlation, 1) << "what began before the call is another one";
}

}  // namespace
}  // namespace gpufl::analysis
