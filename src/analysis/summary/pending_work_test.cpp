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
    // time, function, thread, device, correlation, scope, inherited, stack, kernel
    batch.push_row({1'000 - id, 0, 4711, 2, id, 9, 0, 0, 0});
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

TEST(PendingTable, AKernelThatWasNamedOnceStaysNamed) {
  NameTable names;
  format::Dictionaries dictionaries;
  ASSERT_TRUE(dictionaries.define(format::Dict::Name, 5, "spin"));
  PendingTable table(names);
  Batch named(Kind::Pending);
  named.push_row({900, 0, 4711, 2, 1, 9, 0, 0, 5});
  table.add(named, dictionaries);
  table.add(pending({1}), dictionaries);  // the same, without its name
  Batch call(Kind::Api);
  call.mutable_column(format::api_column::kCorrelation) = {1};
  call.set_rows(1);
  table.add(call, dictionaries);  // the launch has returned; its kernel runs
  ASSERT_EQ(table.finish().size(), 1u);
  EXPECT_EQ(table.finish()[0].kernel, "spin");
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

TEST(PendingTable, AKernelThatRunsOutlivesTheCallThatLaunchedIt) {
  NameTable names;
  format::Dictionaries dictionaries;
  dictionaries.define(format::Dict::Name, 5, "_Z4spinPi");
  PendingTable table(names);
  Batch launch(Kind::Pending);
  for (const int64_t id : {1, 2}) launch.push_row({100, 0, 4711, 0, id, 0, 0, 0, 5});
  Batch call(Kind::Api);
  call.mutable_column(format::api_column::kCorrelation) = {1, 2};
  call.mutable_column(format::api_column::kStart) = {100, 100};
  call.set_rows(2);
  table.add(call, dictionaries);
  table.add(launch, dictionaries);
  table.add(call, dictionaries);
  Batch kernel(Kind::Kernel);
  kernel.mutable_column(format::kernel_column::kCorrelation) = {2};
  kernel.set_rows(1);
  table.add(kernel, dictionaries);
  const auto left = table.finish();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].correlation, 1);
  EXPECT_EQ(left[0].kernel, "spin(int*)");
}

}  // namespace
}  // namespace gpufl::analysis
