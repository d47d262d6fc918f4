// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/framework_ops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

constexpr int64_t kMain = 1, kEngine = 2, kOther = 3;
constexpr int64_t kOperator = 1, kBackward = 2, kSection = 3;
constexpr double kNoNode = std::numeric_limits<double>::quiet_NaN();

class FrameworkOpsTest : public ::testing::Test {
 protected:
  void range(std::string_view domain, std::string_view name, int64_t start, int64_t end,
             int64_t thread, uint32_t stack, int64_t category, double node) {
    session_.marker(name, start, end - start, thread, domain);
    Markers& markers = session_.data.tables.markers;
    markers.category.back() = category;
    markers.payload.back() = node;
    markers.stack.resize(markers.rows());
    markers.stack.back() = stack;
  }
  void op(std::string_view name, int64_t start, int64_t end, double node, uint32_t stack,
          int64_t thread = kMain) {
    range("torch.op", name, start, end, thread, stack, kOperator, node);
  }
  void backward(std::string_view name, int64_t start, int64_t end, double node,
                int64_t thread = kEngine) {
    range("torch.op", name, start, end, thread, 0, kBackward, node);
  }
  void module(std::string_view path, int64_t start, int64_t end, uint32_t stack = 0) {
    range("torch.module", path, start, end, kMain, stack, 0, kNoNode);
  }
  // The text of what a call is labelled with: "op module @stack <forward_op in scope>".
  std::string label(int64_t time_ns, int64_t thread = kMain) {
    TestSession session = session_;
    session.kernel("k", time_ns + 1'000'000, 1, {.thread = thread, .api_start = time_ns});
    const SessionData data = session.finish();
    const FrameworkLabel found = FrameworkOps(data).at(data.tables.kernels, 0);
    const Tables& tables = data.tables;
    std::string text = found.op == 0 ? "-" : tables.name(found.op);
    if (found.module != 0) text += " " + tables.name(found.module);
    if (found.stack != 0) text += " @" + std::to_string(found.stack);
    if (found.is_backward) text += " <" + tables.name(found.forward_op);
    if (found.forward_scope != kNoRow) {
      text += " in " + tables.name(tables.scopes.name[found.forward_scope]);
    }
    return found.is_backward ? text + ">" : text;
  }

  TestSession session_;
};

TEST_F(FrameworkOpsTest, ACallHasTheInnermostOperatorAndModuleOfItsThread) {
  module("Net", 100, 900, 50);
  module("Net.first", 200, 400, 51);
  op("aten::linear", 210, 390, 0, 10);
  op("aten::relu", 500, 600, 2, 11);
  op("MyFunction", 610, 800, 3, 12);
  op("aten::mul", 620, 700, 3, 13);
  EXPECT_EQ(label(300), "aten::linear Net.first @10");
  EXPECT_EQ(label(550), "aten::relu Net @11");
  EXPECT_EQ(label(650), "aten::mul Net @13");
  EXPECT_EQ(label(750), "MyFunction Net @12");
  EXPECT_EQ(label(450), "- Net @50") << "the line that called the module";
  EXPECT_EQ(label(950), "-");
  EXPECT_EQ(label(300, kOther), "-");
}

TEST_F(FrameworkOpsTest, RangesThatBeginTogetherNest) {
  op("aten::mul", 100, 150, kNoNode, 11);  // the inner one is written first
  range("torch.op", "section", 100, 200, kMain, 10, kSection, kNoNode);
  EXPECT_EQ(label(120), "aten::mul @11");
  EXPECT_EQ(label(180), "section @10");
}

// Recorders that look at the clock in different places make ranges that nest by a hair, or not at
// all. The one that began last of those that are open is the one.
TEST_F(FrameworkOpsTest, OfRangesThatOverlapTheLatestIsInnermost) {
  struct Op {
    int64_t start, end;
  };
  std::vector<Op> ops;
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    const auto start = static_cast<int64_t>(random() % 100);
    ops.push_back({start, start + 1 + static_cast<int64_t>(random() % 40)});
  }
  std::stable_sort(ops.begin(), ops.end(), [](const Op& a, const Op& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  for (size_t i = 0; i < ops.size(); ++i) {
    op(std::to_string(i), ops[i].start, ops[i].end, kNoNode, 1);
  }
  for (int64_t time = 0; time < 150; ++time) {
    std::string expected = "-";
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].start <= time && time <= ops[i].end) expected = std::to_string(i) + " @1";
    }
    EXPECT_EQ(label(time), expected) << time;
  }
}

TEST_F(FrameworkOpsTest, TheBackwardPassIsLedBackToItsForwardOperator) {
  session_.scope("forward", 90, 500);
  module("Net.first", 100, 300);
  op("aten::arange", 110, 120, 7, 9);   // makes no node
  op("aten::linear", 130, 200, 7, 10);  // makes 7 and 8
  op("aten::relu", 310, 400, 9, 11);    // makes 9
  op("aten::ones_like", 600, 610, 10, 12);
  backward("ReluBackward0", 700, 750, 9);
  backward("MmBackward0", 760, 800, 8);
  backward("TBackward0", 810, 850, 7);
  EXPECT_EQ(label(720, kEngine), "ReluBackward0 @11 <aten::relu in forward>");
  EXPECT_EQ(label(780, kEngine), "MmBackward0 Net.first @10 <aten::linear in forward>");
  EXPECT_EQ(label(820, kEngine), "TBackward0 Net.first @10 <aten::linear in forward>");
}

TEST_F(FrameworkOpsTest, WhatTheEngineDoesBetweenNodesIsForTheOneBefore) {
  op("aten::relu", 100, 200, 0, 10);
  op("aten::sum", 210, 300, 1, 11);
  op("aten::ones_like", 310, 320, 2, 12);
  backward("SumBackward0", 400, 450, 1);
  op("aten::add", 460, 480, 0, 0, kEngine);
  backward("torch::autograd::AccumulateGrad", 500, 550, kNoNode);
  EXPECT_EQ(label(470, kEngine), "aten::add @11 <aten::sum>");
  EXPECT_EQ(label(490, kEngine), "- @11 <aten::sum>");
  EXPECT_EQ(label(520, kEngine), "torch::autograd::AccumulateGrad @11 <aten::sum>");
  EXPECT_EQ(label(390, kEngine), "-") << "before its first node";
}

TEST_F(FrameworkOpsTest, OnTheThreadOfTheForwardPassOnlyNodesAreBackward) {
  op("aten::relu", 100, 200, 0, 10);
  op("aten::ones_like", 310, 320, 1, 12);
  range("torch.op", "ReluBackward0", 400, 450, kMain, 12, kBackward, 0);
  op("aten::mul_", 500, 600, 1, 13);
  EXPECT_EQ(label(420), "ReluBackward0 @10 <aten::relu>");
  EXPECT_EQ(label(550), "aten::mul_ @13");
  EXPECT_EQ(label(700), "-") << "launched by the program itself";
}

TEST_F(FrameworkOpsTest, ANodeThatTwoThreadsCouldHaveMadeIsNobodys) {
  op("aten::relu", 100, 200, 5, 10);
  op("aten::sum", 210, 220, 6, 10);
  op("aten::gelu", 100, 200, 5, 20, kOther);
  op("aten::sum", 210, 220, 6, 20, kOther);
  backward("ReluBackward0", 400, 450, 5);
  EXPECT_EQ(label(420, kEngine), "ReluBackward0 <>");
}

TEST_F(FrameworkOpsTest, TheThreadThatMadeANodeTellsWhose) {
  constexpr int64_t kFirst = 4 << 8, kSecond = 5 << 8;  // PyTorch's numbers of threads
  for (const auto& [name, number, thread, stack] :
       {std::tuple{"aten::relu", kFirst, kMain, 10u},
        std::tuple{"aten::gelu", kSecond, kOther, 20u},
        // The system has given a thread that ended and a new one the same number.
        std::tuple{"aten::tanh", int64_t{6 << 8}, kOther, 30u}}) {
    const int64_t start = stack * 10;
    range("torch.op", name, start, start + 20, thread, stack, kOperator | number, 5);
    range("torch.op", "aten::sum", start + 30, start + 40, thread, stack, kOperator | number, 6);
  }
  range("torch.op", "GeluBackward0", 600, 650, kEngine, 0, kBackward | kSecond, 5);
  range("torch.op", "ReluBackward0", 700, 750, kEngine, 0, kBackward | kFirst, 5);
  range("torch.op", "TanhBackward0", 800, 850, kEngine, 0, kBackward | 6 << 8, 5);
  range("torch.op", "ExpBackward0", 900, 950, kEngine, 0, kBackward | 7 << 8, 5);
  EXPECT_EQ(label(620, kEngine), "GeluBackward0 @20 <aten::gelu>");
  EXPECT_EQ(label(720, kEngine), "ReluBackward0 @10 <aten::relu>");
  EXPECT_EQ(label(820, kEngine), "TanhBackward0 @30 <aten::tanh>");
  EXPECT_EQ(label(920, kEngine), "ExpBackward0 <>");
}

// Such as one that was made before labels began.
TEST_F(FrameworkOpsTest, ANodeThatNobodyMadeIsNotForTheOneBefore) {
  op("aten::relu", 100, 200, 5, 10);
  op("aten::sum", 210, 220, 6, 11);
  op("aten::ones_like", 310, 320, 7, 12);
  backward("SumBackward0", 400, 450, 6);
  backward("TanhBackward0", 460, 480, 2);
  op("aten::add", 485, 495, 0, 0, kEngine);
  backward("torch::autograd::AccumulateGrad", 500, 550, kNoNode);
  backward("ReluBackward0", 560, 580, 5);
  EXPECT_EQ(label(420, kEngine), "SumBackward0 @11 <aten::sum>");
  EXPECT_EQ(label(470, kEngine), "TanhBackward0 <>");
  EXPECT_EQ(label(490, kEngine), "aten::add");
  EXPECT_EQ(label(520, kEngine), "torch::autograd::AccumulateGrad <>");
  EXPECT_EQ(label(570, kEngine), "ReluBackward0 @10 <aten::relu>");
}

TEST_F(FrameworkOpsTest, AThreadThatMakesNoNodesIsInNobodysWay) {
  op("aten::relu", 100, 200, 0, 10);
  op("aten::sum", 210, 220, 1, 10);
  for (int64_t at = 100; at < 200; at += 10) op("aten::pin_memory", at, at + 5, 0, 30, kOther);
  backward("ReluBackward0", 400, 450, 0);
  EXPECT_EQ(label(420, kEngine), "ReluBackward0 @10 <aten::relu>");
}

TEST_F(FrameworkOpsTest, OtherMarkersAreNoLabels) {
  session_.marker("step", 100, 200);
  session_.data.tables.markers.stack.clear();
  TestSession session = session_;
  EXPECT_TRUE(FrameworkOps(session.finish()).is_empty());
}

}  // namespace
}  // namespace gpufl::analysis
