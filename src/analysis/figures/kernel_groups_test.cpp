// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/kernel_groups.hpp"

#include <gtest/gtest.h>

#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

TEST(KernelGroups, ByNameWithExactFigures) {
  TestSession session;
  for (const int64_t duration : {40, 10, 30, 20})
    session.kernel("_Z4gemmPf", duration * 100, duration);
  session.kernel("relu_kernel", 9000, 300);
  const auto groups = kernel_groups(session.finish(), {}, GroupBy::Name);
  ASSERT_TRUE(groups);
  ASSERT_EQ(groups->size(), 2u);
  EXPECT_EQ((*groups)[0].label, "relu_kernel");
  EXPECT_DOUBLE_EQ((*groups)[0].share, 0.75);
  const KernelGroup& gemm = (*groups)[1];
  EXPECT_EQ(gemm.label, "gemm");
  EXPECT_EQ(gemm.full_name, "gemm(float*)");
  EXPECT_EQ(gemm.kernel_class, KernelClass::MatrixProduct);
  EXPECT_EQ(gemm.duration_ns.count, 4u);
  EXPECT_EQ(gemm.duration_ns.total, 100);
  EXPECT_EQ(gemm.duration_ns.min, 10);
  EXPECT_EQ(gemm.duration_ns.max, 40);
  EXPECT_DOUBLE_EQ(gemm.duration_ns.mean, 25);
  EXPECT_DOUBLE_EQ(gemm.duration_ns.median, 25);
  EXPECT_EQ(gemm.duration_ns.p90, 40);
  EXPECT_EQ(gemm.duration_ns.p99, 40);
}

TEST(KernelGroups, ConfigurationsOfOneNameAreApart) {
  TestSession session;
  LaunchConfig small, large;
  small.grid = {2, 1, 1};
  small.block = {32, 1, 1};
  large.grid = {8, 4, 1};
  large.block = {16, 16, 2};
  const uint32_t a = session.config("k", small), b = session.config("k", large);
  session.kernel(a, 0, 10);
  session.kernel(b, 20, 30);
  const SessionData data = session.finish();
  const auto groups = *kernel_groups(data, {}, GroupBy::Config);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].label, "k <<<8x4, 16x16x2>>>");
  EXPECT_EQ(groups[0].key, b);
  EXPECT_EQ(groups[1].label, "k <<<2, 32>>>");
  EXPECT_EQ(kernel_groups(data, {}, GroupBy::Name)->size(), 1u);
}

TEST(KernelGroups, AConfigurationThatNobodyToldHasNoSizes) {
  TestSession session;
  session.kernel(session.config("k", LaunchConfig()), 0, 10);
  EXPECT_EQ(kernel_groups(session.finish(), {}, GroupBy::Config)->at(0).label, "k");
}

TEST(KernelGroups, ByStreamDeviceClassAndScope) {
  TestSession session;
  const int64_t outer = session.scope("train", 0, 1000);
  const int64_t inner = session.scope("step", 0, 500, {.parent = outer, .tag = "1"});
  session.kernel("gemm", 0, 10, {.device = 0, .stream = 7, .scope = inner});
  session.kernel("gemm", 20, 10, {.device = 0, .stream = 8, .scope = inner});
  session.kernel("softmax", 40, 5, {.device = 1, .stream = 7});
  const SessionData data = session.finish();
  const auto streams = *kernel_groups(data, {}, GroupBy::Stream);
  ASSERT_EQ(streams.size(), 3u);
  EXPECT_EQ(streams[0].label, "GPU 0, stream 7");
  const auto devices = *kernel_groups(data, {}, GroupBy::Device);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].label, "GPU 0");
  EXPECT_EQ(devices[0].duration_ns.total, 20);
  const auto classes = *kernel_groups(data, {}, GroupBy::Class);
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[1].label, "softmax");
  const auto scopes = *kernel_groups(data, {}, GroupBy::Scope);
  ASSERT_EQ(scopes.size(), 2u);
  EXPECT_EQ(scopes[0].label, "train > step / 1");
  EXPECT_EQ(scopes[0].key, 1);
  EXPECT_EQ(scopes[1].label, "(no scope)");
  EXPECT_TRUE(scopes[1].is_rest);
}

TEST(KernelGroups, FiltersLeaveOutRows) {
  TestSession session;
  const int64_t step = session.scope("step", 0, 100, {.tag = "7"});
  session.kernel("a", 10, 1, {.scope = step});
  session.kernel("a", 20, 2);
  session.kernel("a", 30, 4, {.device = 1});
  const SessionData data = session.finish();
  const auto total = [&](const AnalysisOptions& options) {
    const auto groups = *kernel_groups(data, options, GroupBy::Name);
    return groups.empty() ? 0 : groups[0].duration_ns.total;
  };
  AnalysisOptions options;
  EXPECT_EQ(total(options), 7);
  options.device = 1;
  EXPECT_EQ(total(options), 4);
  options = {};
  options.scope = "st*";
  EXPECT_EQ(total(options), 1);
  options.scope = "step / 7";
  EXPECT_EQ(total(options), 1);
  options.scope = "nothing";
  EXPECT_EQ(total(options), 0);
  options = {};
  options.window = Interval{20, 30};
  EXPECT_EQ(total(options), 2);
}

TEST(KernelGroups, WhatTheEngineDoesNotRecordIsUnknown) {
  TestSession session;
  session.data.summary.header.engine = "Monitor";
  const auto groups = kernel_groups(session.data, {}, GroupBy::Name);
  ASSERT_FALSE(groups);
  EXPECT_EQ(groups.unknown().reason, "the engine Monitor records no GPU work");
  EXPECT_NE(groups.unknown().remedy.find("Trace"), std::string::npos);

  TestSession traced;
  traced.data.summary.header.engine = "Trace";
  traced.data.summary.ledger.emplace();
  const auto never_on = kernel_groups(traced.data, {}, GroupBy::Name);
  ASSERT_FALSE(never_on);
  EXPECT_NE(never_on.unknown().reason.find("never turned on"), std::string::npos);
  traced.data.summary.ledger->kernel_records = 0;
  EXPECT_TRUE(kernel_groups(traced.data, {}, GroupBy::Name)->empty());
  traced.kernel("a", 0, 1);
  const auto lines = kernel_groups(traced.finish(), {}, GroupBy::Line);
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.unknown().remedy, "record with enable_stack_trace (gpufl trace --stacks)");
}

TEST(KernelGroups, KernelsWithoutAResolvedStackAreTheRest) {
  TestSession session;
  session.kernel("a", 0, 3, {.stack = 5});
  session.kernel("a", 10, 4);
  session.kernel("a", 20, 5, {.stack = UINT32_MAX - 1});  // no log has so many
  const auto lines = *kernel_groups(session.finish(), {}, GroupBy::Line);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].is_rest);
  EXPECT_EQ(lines[0].duration_ns.total, 12);
}

TEST(KernelGroups, OperatorsAndModulesOfAFramework) {
  TestSession session;
  session.marker("Net", 100, 500, 1, "torch.module");
  session.marker("aten::mm", 110, 90, 1, "torch.op");
  session.marker("aten::relu", 700, 50, 1, "torch.op");
  session.kernel("gemm", 1000, 60, {.thread = 1, .api_start = 120});
  session.kernel("splitk", 1100, 10, {.thread = 1, .api_start = 150});
  session.kernel("relu", 1200, 20, {.thread = 1, .api_start = 710});
  session.kernel("mine", 1300, 10, {.thread = 1, .api_start = 900});
  const SessionData data = session.finish();
  const auto text = [&](GroupBy by) {
    std::string out;
    const auto groups = kernel_groups(data, {}, by);
    for (const KernelGroup& group : *groups) {
      out += group.label + " " + std::to_string(group.duration_ns.total) + ";";
    }
    return out;
  };
  EXPECT_EQ(text(GroupBy::Op), "aten::mm 70;aten::relu 20;(no operator) 10;");
  EXPECT_EQ(text(GroupBy::Module), "Net 70;(no module) 30;");

  TestSession bare;
  bare.kernel("a", 0, 1);
  EXPECT_FALSE(kernel_groups(bare.finish(), {}, GroupBy::Op));
}

TEST(KernelGroups, KernelsOfAGroupHaveSharesOfItsTime) {
  TestSession session;
  const int64_t train = session.scope("train", 0, 5000);
  session.marker("aten::mm", 100, 100, 1, "torch.op");
  session.kernel("gemm", 1000, 30, {.scope = train, .api_start = 110});
  session.kernel("gemm", 1100, 30, {.scope = train, .api_start = 120});
  session.kernel("copy_kernel", 1200, 20, {.scope = train, .api_start = 130});
  session.kernel("gemm", 1300, 1000, {.scope = train, .api_start = 800});
  const SessionData data = session.finish();
  const auto text = [&](GroupBy by, std::string_view group) {
    const auto kernels = kernels_of_group(data, {}, by, group);
    std::string out;
    for (const KernelGroup& kernel : *kernels) {
      out += kernel.label + " " + std::to_string(kernel.duration_ns.count) + " " +
             std::to_string(kernel.duration_ns.total) + " " + std::to_string(kernel.share) + "; ";
    }
    return out;
  };
  EXPECT_EQ(text(GroupBy::Op, "aten::mm"), "gemm 2 60 0.750000; copy_kernel 1 20 0.250000; ");
  EXPECT_EQ(text(GroupBy::Op, "(no operator)"), "gemm 1 1000 1.000000; ");
  EXPECT_EQ(text(GroupBy::Class, "matrix product"), "gemm 3 1060 1.000000; ");
  EXPECT_EQ(text(GroupBy::Op, "aten::bmm"), "");
  EXPECT_FALSE(kernels_of_group(data, {}, GroupBy::Line, "train.py:30"));
}

}  // namespace
}  // namespace gpufl::analysis
