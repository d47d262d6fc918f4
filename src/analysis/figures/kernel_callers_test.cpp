// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/kernel_callers.hpp"

#include <gtest/gtest.h>

#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

constexpr uint32_t kTrain = 10, kTrainToo = 11, kWarmUp = 12;

// Two stacks with the same line of the program, and one with another.
CodeMap code_map() {
  symbols::SessionFrames frames;
  for (const char* line :
       {R"({"dict":"name","ids":[1,2,3],"values":["step","epoch","warm_up"]})",
        R"({"dict":"text","ids":[1,2],"values":["/home/me/train.py","/usr/lib/libcuda.so.1"]})",
        R"({"dict":"frame","ids":[1,2,3,4],"values":[{"function":1,"file":1,"line":30},
            {"function":2,"file":1,"line":40},{"function":3,"file":1,"line":50},
            {"module":2,"offset":16}]})",
        R"({"dict":"stack","ids":[10,11,12],"values":[{"frames":[4,1,2]},{"frames":[4,1,3]},
            {"frames":[4,3]}]})"}) {
    const auto parsed = base::Json::parse(line);
    EXPECT_TRUE(parsed.is_ok()) << line;
    frames.add(*parsed);
  }
  return {frames, {}};
}

// "train.py:30 in step() 2 70; ...": launches and nanoseconds.
std::string text(const Callers<KernelGroup>& callers) {
  std::string out;
  for (const KernelGroup& group : callers.entries) {
    out += group.label + " " + std::to_string(group.duration_ns.count) + " " +
           std::to_string(group.duration_ns.total) + "; ";
  }
  return out;
}

class KernelCallersTest : public ::testing::Test {
 protected:
  KernelCallersTest() {
    TestSession session;
    session.data.code = code_map();
    const int64_t train = session.scope("train", 0, 2000);
    const int64_t eval = session.scope("eval", 2000, 1000);
    session.marker("Net.fc", 90, 500, 1, "torch.module");
    session.marker("aten::mm", 100, 100, 1, "torch.op");
    session.marker("aten::bmm", 300, 100, 1, "torch.op");
    session.kernel("gemm", 1000, 40, {.scope = train, .api_start = 110, .stack = kTrain});
    session.kernel("gemm", 1100, 30, {.scope = train, .api_start = 310, .stack = kTrainToo});
    session.kernel("gemm", 1200, 20, {.scope = train, .api_start = 800, .stack = kWarmUp});
    session.kernel("gemm", 2100, 10, {.scope = eval, .api_start = 810, .stack = kWarmUp});
    // Of another kernel, which takes most of the time in each place.
    for (const uint32_t stack : {kTrain, kWarmUp}) {
      session.kernel("relu", 1300 + stack, 5000,
                     {.scope = train, .api_start = 120, .stack = stack});
    }
    session.kernel("mine", 2500, 7);
    data_ = session.finish();
  }

  SessionData data_;
};

TEST_F(KernelCallersTest, LaunchesOfOneKernelAreThoseOfItsCallersAlone) {
  const KernelCallers gemm = kernel_callers(data_, {}, "gemm");
  EXPECT_EQ(text(*gemm.by_op), "aten::mm 1 40; (no operator) 2 30; aten::bmm 1 30; ");
  EXPECT_EQ(text(*gemm.by_module), "Net.fc 2 70; (no module) 2 30; ");
  EXPECT_EQ(text(*gemm.by_line), "train.py:30 in step() 2 70; train.py:50 in warm_up() 2 30; ");
  EXPECT_EQ(text(*gemm.by_scope), "train 3 90; eval 1 10; ");
  EXPECT_EQ(gemm.by_line->entries[0].full_name, "/home/me/train.py:30");
  EXPECT_DOUBLE_EQ(gemm.by_line->entries[0].share, 0.7);
  EXPECT_EQ(gemm.by_line->more, 0u);
}

TEST_F(KernelCallersTest, StacksOfOneLineAreApart) {
  const auto stacks = kernel_callers(data_, {}, "gemm").by_stack->entries;
  ASSERT_EQ(stacks.size(), 3u);
  EXPECT_EQ(stacks[0].group.label, "train.py:30 in step()");
  EXPECT_EQ(stacks[0].group.duration_ns.total, 40);
  EXPECT_EQ(stacks[0].frames,
            (std::vector<std::string>{"/usr/lib/libcuda.so.1+0x10", "step at /home/me/train.py:30",
                                      "epoch at /home/me/train.py:40"}));
  EXPECT_EQ(stacks[1].group.label, "train.py:30 in step()");
  EXPECT_EQ(stacks[2].group.duration_ns.count, 2u);
}

TEST_F(KernelCallersTest, WhatABoundLeavesOutIsCounted) {
  const KernelCallers gemm =
      kernel_callers(data_, {}, "gemm", {.entries = 1, .stacks = 1, .frames = 2});
  EXPECT_EQ(text(*gemm.by_op), "aten::mm 1 40; ");
  EXPECT_EQ(gemm.by_op->more, 2u);
  EXPECT_EQ(gemm.by_op->more_launches, 3u);
  EXPECT_EQ(gemm.by_op->more_ns, 60);
  ASSERT_EQ(gemm.by_stack->entries.size(), 1u);
  EXPECT_EQ(gemm.by_stack->entries[0].frames.size(), 2u);
  EXPECT_EQ(gemm.by_stack->entries[0].more_frames, 1u);
  EXPECT_EQ(gemm.by_stack->more, 2u);
}

TEST_F(KernelCallersTest, OptionsLeaveOutLaunches) {
  AnalysisOptions options;
  options.scope = "eval";
  EXPECT_EQ(text(*kernel_callers(data_, options, "gemm").by_line),
            "train.py:50 in warm_up() 1 10; ");
}

TEST_F(KernelCallersTest, AKernelOfWhichNothingIsToldHasTheRest) {
  const KernelCallers mine = kernel_callers(data_, {}, "mine");
  EXPECT_EQ(text(*mine.by_line), "(no stack) 1 7; ");
  EXPECT_TRUE(mine.by_stack->entries.at(0).frames.empty());
  EXPECT_TRUE(kernel_callers(data_, {}, "nothing").by_op->entries.empty());
}

TEST(KernelCallers, WhatWasNotRecordedIsUnknown) {
  TestSession session;
  session.kernel("gemm", 0, 10);
  const KernelCallers callers = kernel_callers(session.finish(), {}, "gemm");
  EXPECT_FALSE(callers.by_op);
  EXPECT_FALSE(callers.by_line);
  EXPECT_FALSE(callers.by_stack);
  EXPECT_EQ(text(*callers.by_scope), "(no scope) 1 10; ");
}

}  // namespace
}  // namespace gpufl::analysis
