// SPDX-License-Identifier: Apache-2.0
#include "capture/stack_log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "capture/fake_log_writer.hpp"

namespace gpufl::capture {
namespace {

using symbols::StackFrame;

StackFrame native(std::string module, uint64_t offset) {
  StackFrame frame;
  frame.module = std::move(module);
  frame.offset = offset;
  return frame;
}

StackFrame program(uint64_t offset, bool holds_gpufl) {
  StackFrame frame = native("/home/user/train", offset);
  frame.is_program = true;
  frame.holds_gpufl = holds_gpufl;
  return frame;
}

StackFrame ours(uint64_t offset) {
  StackFrame frame = native("/usr/lib/libgpufl_inject.so", offset);
  frame.holds_gpufl = true;
  return frame;
}

StackFrame python(std::string function, int64_t line) {
  StackFrame frame;
  frame.function = std::move(function);
  frame.file = "train.py";
  frame.line = line;
  return frame;
}

// "function@module+offset" of each frame that is left.
std::vector<std::string> folded(std::vector<StackFrame> frames) {
  std::vector<std::string> texts;
  for (const StackFrame& frame : fold_driver_frames(std::move(frames))) {
    texts.push_back(frame.function + "@" + frame.module.substr(frame.module.rfind('/') + 1) + "+" +
                    std::to_string(frame.offset));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(FoldDriverFramesTest, ShowsOneFrameForTheInjectedLibraryAndTheDriver) {
  EXPECT_EQ(folded({ours(1), ours(2), native("/nvidia/libcupti.so.13", 3),
                    native("/usr/lib/libcuda.so.1", 4), native("/nvidia/libcudart.so.13", 5),
                    native("/torch/libtorch_cuda.so", 6), python("step", 12)}),
            (Texts{"<driver-internal>@libcudart.so.13+5", "@libtorch_cuda.so+6", "step@+0"}));
}

TEST(FoldDriverFramesTest, KnowsItsOwnCallbackInsideOfAProgram) {
  EXPECT_EQ(folded({program(1, true), program(2, true), native("/usr/lib/libcupti.so.12", 3),
                    native("/usr/lib/libcuda.so.1", 4), program(5, true), program(6, true)}),
            (Texts{"<driver-internal>@libcuda.so.1+4", "@train+5", "@train+6"}));
}

TEST(FoldDriverFramesTest, KeepsAProgramThatNoDriverCalled) {
  EXPECT_EQ(folded({program(1, true), native("/usr/lib/libc.so.6", 2), program(3, true)}),
            (Texts{"@train+1", "@libc.so.6+2", "@train+3"}));
}

TEST(FoldDriverFramesTest, LeavesOneFrameWhereThereIsNoOther) {
  EXPECT_EQ(folded({ours(1), native("/usr/lib/libcuda.so.1", 2),
                    native("/usr/lib/libnvidia-ptxjitcompiler.so.1", 3)}),
            (Texts{"<driver-internal>@libnvidia-ptxjitcompiler.so.1+3"}));
  EXPECT_TRUE(folded({}).empty());
}

TEST(FoldDriverFramesTest, FoldsEachRunAndNoNamesake) {
  EXPECT_EQ(folded({native("/usr/lib/libcuda.so.1", 1), native("/usr/lib/libcudnn.so.9", 2),
                    native("/usr/lib/libcuda.so.1", 3), native("/usr/lib/libcuda.so.1", 4),
                    native("/usr/lib/libmy_libcupti.so", 5)}),
            (Texts{"<driver-internal>@libcuda.so.1+1", "@libcudnn.so.9+2",
                   "<driver-internal>@libcuda.so.1+4", "@libmy_libcupti.so+5"}));
}

[[gnu::noinline]] uint32_t record_here(ThreadStacks& stacks) {
  const uint32_t id = stacks.record();
  asm volatile("" ::: "memory");
  return id;
}

TEST(StackLogTest, WritesAStackItsFramesAndTheirModules) {
  FakeLogWriter log;
  StackLog stacks(log, base::monotonic_ns());
  ThreadStacks recorder;
  EXPECT_EQ(stacks.id(0), 0);
  uint32_t recorded = 0;
  for (int i = 0; i < 2; ++i) {
    recorded = record_here(recorder);
    EXPECT_EQ(stacks.id(recorded), 1);
  }

  const auto stack = base::Json::parse(log.text(format::Dict::Stack, 1));
  ASSERT_TRUE(stack);
  const std::vector<base::Json>& frames = (*stack)["frames"].items();
  const std::vector<StackFrame> expected = symbols::StackTable::instance().frames(recorded);
  ASSERT_EQ(frames.size(), expected.size());
  ASSERT_GE(frames.size(), 4u);
  for (size_t i = 0; i < frames.size(); ++i) {
    const auto frame = base::Json::parse(log.text(format::Dict::Frame, frames[i].as_integer()));
    ASSERT_TRUE(frame);
    EXPECT_EQ(log.text(format::Dict::Text, (*frame)["module"].as_integer()), expected[i].module);
    EXPECT_EQ((*frame)["offset"].as_integer(), static_cast<int64_t>(expected[i].offset));
    EXPECT_EQ((*frame)["build_id"].as_string(), expected[i].build_id);
  }

  size_t programs = 0;
  for (const auto& [kind, line] : log.objects) {
    ASSERT_EQ(kind, format::Kind::Module);
    EXPECT_FALSE(line["id"].as_string().empty());
    EXPECT_GE(line["time"].as_integer(-1), 0);
    EXPECT_GT(line["bytes"].as_integer(), 0);
    programs += line["path"].as_string() == expected[0].module ? 1 : 0;
  }
  EXPECT_EQ(programs, 1u);
  EXPECT_GE(log.objects.size(), 2u);  // the program and libc
}

}  // namespace
}  // namespace gpufl::capture
