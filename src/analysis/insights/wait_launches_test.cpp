// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/wait_launches.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "analysis/insights/test_program.hpp"

namespace gpufl::analysis::testing {
namespace {

// A program, and what its lines wait for: kernels as "name x count, time", most time first.
class Waiting {
 public:
  explicit Waiting(TestProgram& program, const AnalysisOptions& options = {}, size_t most = 10)
      : session_(finish(program)),
        overview_(analyze(session_, options)),
        view_(session_, overview_, thresholds_),
        lines_(sync_lines(view_)),
        found(wait_launches(view_, lines_, most)) {}

  const LineLaunches& at(int64_t line, bool holds_stream = false) const {
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].site->line == line && lines_[i].holds_stream == holds_stream) {
        return found.lines[i];
      }
    }
    ADD_FAILURE() << "no wait at line " << line;
    return found.lines.at(0);
  }
  std::string kernels(int64_t line, bool holds_stream = false) const {
    std::string text;
    for (const LaunchedKernel& kernel : at(line, holds_stream).launched->kernels) {
      text += session_.tables.name(kernel.name) + " x " + std::to_string(kernel.count) + ", " +
              std::to_string(kernel.gpu_ns) + "; ";
    }
    return text;
  }

 private:
  static SessionData finish(TestProgram& program) {
    SessionData session = program.finish();
    session.code = program.code();
    return session;
  }

  Thresholds thresholds_;
  SessionData session_;
  Overview overview_;
  SessionView view_;
  std::vector<SyncLine> lines_;

 public:
  WaitLaunches found;
};

// Launched at `asked` by a thread; runs long after that, when other waits have begun.
void launch(TestProgram& program, const char* name, int64_t asked, int64_t duration,
            int64_t thread = 1) {
  program.kernel(name, asked + kMs, duration,
                 {.thread = thread, .api_start = asked, .api_duration = 1});
}

TEST(WaitLaunches, KernelsSinceTheWaitBeforeOverAllWaitsOfALine) {
  TestProgram program;
  const uint32_t line = program.line("/a.py", 7, "f"), other = program.line("/a.py", 9, "g");
  launch(program, "gemm", 10, 100);  // no wait before
  program.wait(3, 20, 5, {.stack = line});
  launch(program, "add", 30, 7);
  launch(program, "gemm", 31, 200);
  program.wait(3, 40, 50, {.stack = line});
  launch(program, "copy", 100, 1);
  program.wait(3, 110, 5, {.stack = other});
  program.wait(3, 120, 10, {.stack = line});  // nothing since the wait of the other line
  launch(program, "late", 130, 1);            // no wait after
  const Waiting waiting(program);
  EXPECT_EQ(waiting.kernels(7), "gemm x 2, 300; add x 1, 7; ");
  EXPECT_EQ(waiting.kernels(9), "copy x 1, 1; ");
  EXPECT_EQ(waiting.found.kernels_without_call, 0u);
}

TEST(WaitLaunches, ThreadsWaitForTheirOwnKernels) {
  TestProgram program;
  const uint32_t line = program.line("/a.py", 7, "f"), other = program.line("/a.py", 9, "g");
  launch(program, "one", 10, 1, 1);
  launch(program, "two", 11, 2, 2);
  program.wait(3, 20, 5, {.thread = 2, .stack = other});
  launch(program, "one", 30, 1, 1);
  launch(program, "two", 31, 2, 2);
  launch(program, "three", 32, 4, 3);  // of a thread that never waits
  program.wait(3, 40, 5, {.thread = 1, .stack = line});
  program.wait(3, 41, 5, {.thread = 2, .stack = line});
  const Waiting waiting(program);
  EXPECT_EQ(waiting.kernels(7), "one x 2, 2; two x 1, 2; ");
  EXPECT_EQ(waiting.kernels(9), "two x 1, 2; ");
}

TEST(WaitLaunches, AWaitWithoutAStackIsAWaitBefore) {
  TestProgram program;
  launch(program, "early", 10, 1);
  program.wait(3, 20, 5);
  launch(program, "gemm", 30, 1);
  program.wait(3, 40, 5, {.stack = program.line("/a.py", 7, "f")});
  const Waiting waiting(program);
  EXPECT_EQ(waiting.kernels(7), "gemm x 1, 1; ");
  ASSERT_TRUE(waiting.at(7).typical.before);
  EXPECT_EQ(waiting.at(7).typical.before->start, 20);
  EXPECT_EQ(waiting.at(7).typical.before->end, 25);
}

TEST(WaitLaunches, WaitsOfStreamsAreNoneOfTheHost) {
  TestProgram program;
  const uint32_t line = program.line("/a.py", 7, "f");
  launch(program, "one", 10, 1);
  program.wait(2, 20, 0, {.stack = line});
  launch(program, "two", 30, 2);
  program.wait(3, 40, 5, {.stack = line});
  launch(program, "three", 50, 4);
  program.wait(2, 60, 0, {.stack = line});
  const Waiting waiting(program);
  EXPECT_EQ(waiting.kernels(7, false), "two x 1, 2; one x 1, 1; ");
  EXPECT_EQ(waiting.kernels(7, true), "three x 1, 4; one x 1, 1; ");
}

TEST(WaitLaunches, WhatIsBeyondTheLimitIsCounted) {
  TestProgram program;
  for (int i = 0; i < 6; ++i) {  // kernel_5 takes most
    for (int j = 0; j < 2; ++j) {
      launch(program, ("kernel_" + std::to_string(i)).c_str(), 10 + 2 * i + j, 100 * (i + 1));
    }
  }
  program.wait(3, 100, 5, {.stack = program.line("/a.py", 7, "f")});
  const Waiting waiting(program, {}, 2);
  EXPECT_EQ(waiting.kernels(7), "kernel_5 x 2, 1200; kernel_4 x 2, 1000; ");
  const LaunchedWork& work = *waiting.at(7).launched;
  EXPECT_EQ(work.other_kernels, 4u);
  EXPECT_EQ(work.others.count, 8u);
  EXPECT_EQ(work.others.gpu_ns, 2 * (100 + 200 + 300 + 400));
}

TEST(WaitLaunches, GraphsThatWereRecordedWholeAreCounted) {
  TestProgram program;
  program.graph_launch(1, 8, 20, 10, {.api_start = 10});
  program.wait(3, 30, 5, {.stack = program.line("/a.py", 7, "f")});
  program.graph_launch(1, 8, 50, 10, {.api_start = 40});
  const Waiting waiting(program);
  EXPECT_EQ(waiting.at(7).launched->graphs, 1u);
  EXPECT_EQ(waiting.kernels(7), "");
}

TEST(WaitLaunches, ATypicalWaitAndTheLongest) {
  TestProgram program;
  const uint32_t line = program.line("/a.py", 7, "f");
  launch(program, "gemm", 5, 1);
  program.wait(3, 10, 100, {.stack = line});
  program.wait(3, 200, 3, {.stack = line});
  program.wait(3, 300, 50, {.stack = line});
  const Waiting waiting(program);
  EXPECT_EQ(waiting.at(7).typical.span.start, 300);
  EXPECT_EQ(waiting.at(7).typical.span.end, 350);
  EXPECT_EQ(waiting.at(7).typical.before->start, 200);
  EXPECT_EQ(waiting.at(7).longest.span.start, 10);
  EXPECT_FALSE(waiting.at(7).longest.before);
}

TEST(WaitLaunches, ARangeHasItsWaitsWithWhatWasLaunchedBeforeIt) {
  TestProgram program;
  const uint32_t line = program.line("/a.py", 7, "f");
  launch(program, "first", 10, 1);
  program.wait(3, 20, 5, {.stack = line});
  launch(program, "second", 30, 1);
  program.wait(3, 60, 5, {.stack = line});
  AnalysisOptions options;
  options.window = Interval{50, 1000};
  EXPECT_EQ(Waiting(program, options).kernels(7), "second x 1, 1; ");
}

TEST(WaitLaunches, UnknownWhereNoLaunchOrNoThreadIsKnown) {
  TestProgram no_times;
  no_times.kernel("gemm", 10, 1);
  no_times.wait(3, 20, 5, {.stack = no_times.line("/a.py", 7, "f")});
  const Waiting untimed(no_times);
  EXPECT_FALSE(untimed.at(7).launched);
  EXPECT_EQ(untimed.found.kernels_without_call, 1u);

  TestProgram no_threads;
  launch(no_threads, "gemm", 10, 1, 1);
  launch(no_threads, "gemm", 11, 1, 0);
  no_threads.wait(3, 20, 5, {.thread = 0, .stack = no_threads.line("/a.py", 7, "f")});
  const Waiting anonymous(no_threads);
  ASSERT_FALSE(anonymous.at(7).launched);
  EXPECT_EQ(anonymous.at(7).launched.unknown().reason, "the log does not say which thread waited");
  EXPECT_EQ(anonymous.found.kernels_without_call, 1u);
}

}  // namespace
}  // namespace gpufl::analysis::testing
