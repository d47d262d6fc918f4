// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analysis/insights/test_program.hpp"
#include "report/test_report.hpp"
#include "report/text_page.hpp"
#include "report/text_sections.hpp"

namespace gpufl::report {
namespace {

using analysis::SessionData;
using analysis::testing::kMs;
using analysis::testing::kS;
using analysis::testing::kUs;
using analysis::testing::TestProgram;

std::string section(const TestReport& report, size_t width, size_t top) {
  TextPage page(width, false);
  MissingFigures missing;
  write_waits(page, report.view(), top, missing);
  write_launches(page, report.view(), top, missing);
  missing.write(page);
  return page.text();
}

// The loop of a training program that waits in every step.
SessionData session_with_stacks() {
  TestProgram program;
  program.data.summary.header.engine = "Trace";
  program.data.summary.duration_ns = 77'450 * kMs;
  const uint32_t step = program.line("/home/me/train.py", 90, "train_step");
  const uint32_t launch = program.line("/home/me/train.py", 81, "train_step");
  const uint32_t model = program.line("/home/me/model.py", 12, "Model.forward");
  for (int64_t i = 0; i < 50; ++i) {
    program.wait(4, i * 1'549 * kMs, 1'471'600 * kUs, {.stack = step});
    for (int64_t k = 0; k < 20; ++k) {
      program.kernel("gemm", i * 1'549 * kMs + k * kMs, 9 * kUs,
                     {.stack = k < 19 ? launch : model});
    }
  }
  program.wait(1, 77'449 * kMs, 500 * kUs, {.stack = model});
  program.wait(3, 77'449 * kMs + 600 * kUs, 500);
  SessionData session = program.finish();
  symbols::SymbolFile symbols;
  symbols.binaries = {{"/home/me/train", "ab12", "build_id_mismatch", "", "", 4, 0}};
  session.code = program.code(symbols);
  return session;
}

TEST(CodeSectionTest, LinesThatWaitedAndLaunched) {
  expect_golden(section(TestReport(session_with_stacks()), 100, 30), "code.txt");
}

TEST(CodeSectionTest, OnANarrowPageTheFirstOfThem) {
  expect_golden(section(TestReport(session_with_stacks()), 60, 1), "code_narrow.txt");
}

TEST(CodeSectionTest, WithoutStacksThereAreCalls) {
  TestProgram program;
  program.data.summary.header.engine = "Trace";
  program.data.summary.duration_ns = 10 * kS;
  for (int64_t i = 0; i < 3; ++i) program.wait(3, i * 3 * kS, 1 * kS);
  program.kernel("gemm", 0, kMs);
  const std::string text = section(TestReport(program.finish()), 100, 30);
  EXPECT_NE(text.find("SYNCHRONIZATION: 3.000 s (30.0%) blocked in 3 waits"), std::string::npos)
      << text;
  EXPECT_NE(text.find("StreamSynchronize      3  3.000 s (30.0%)  1.000 s"), std::string::npos)
      << text;
  EXPECT_NE(text.find("lines of code: "), std::string::npos) << text;
  EXPECT_EQ(text.find("LAUNCHES"), std::string::npos) << text;
}

TEST(CodeSectionTest, LabelsOfAFrameworkTellLinesWhereStacksDoNot) {
  TestProgram program;
  program.data.summary.header.engine = "Trace";
  program.marker("aten::mm", 100, 100, 1, "torch.op");
  program.data.tables.markers.stack = {program.line("/home/me/model.py", 12, "forward")};
  program.kernel("gemm", 1000, 60, {.thread = 1, .api_start = 120});
  program.kernel("mine", 2000, 20, {.thread = 1, .api_start = 900});
  SessionData session = program.finish();
  session.code = program.code();
  const std::string text = section(TestReport(std::move(session)), 100, 30);
  EXPECT_NE(text.find("LAUNCHES BY LINE"), std::string::npos) << text;
  EXPECT_NE(text.find("model.py:12 in forward()"), std::string::npos) << text;
  EXPECT_EQ(text.find("lines of code: "), std::string::npos) << text;
}

TEST(CodeSectionTest, StreamsThatWaitForEventsBlockNobody) {
  for (const bool has_stacks : {false, true}) {
    TestProgram program;
    program.data.summary.header.engine = "Trace";
    program.data.summary.duration_ns = 10 * kS;
    const uint32_t line = has_stacks ? program.line("/home/me/train.py", 90, "step") : 0;
    for (int64_t i = 0; i < 3; ++i) program.wait(2, i * 3 * kS, 1 * kS, {.stack = line});
    program.wait(3, 9 * kS, 1 * kS, {.stack = line});
    program.kernel("gemm", 0, kMs);
    SessionData session = program.finish();
    session.code = program.code();
    const std::string text = section(TestReport(std::move(session)), 100, 30);
    EXPECT_NE(text.find("SYNCHRONIZATION: 1.000 s (10.0%) blocked in 1 wait"), std::string::npos)
        << text;
    EXPECT_NE(text.find("stream waits"), std::string::npos) << text;
    EXPECT_NE(text.find("3: a stream waits for an event"), std::string::npos) << text;
  }
}

TEST(CodeSectionTest, NothingToSay) {
  EXPECT_EQ(text_of(analysis::SessionSummary{}).find("SYNCHRONIZATION"), std::string::npos);
}

TEST(CodeSectionTest, ATerminalIsNotMadeToObeyALog) {
  TestProgram program;
  program.data.summary.header.engine = "Trace";
  const uint32_t line = program.line("/a\x1b", 1, "b\x1b");
  program.wait(3, 0, kMs, {.stack = line});
  program.kernel("c", 0, kMs, {.stack = line});
  SessionData session = program.finish();
  symbols::SymbolFile symbols;
  symbols.binaries = {{"f\x1b", "", "no_symbols", "", "", 1, 0}};
  session.code = program.code(symbols);
  const std::string text = section(TestReport(std::move(session)), 100, 30);
  EXPECT_NE(text.find("a?:1 in b?"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace gpufl::report
