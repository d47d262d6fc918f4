// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "report/text_report.hpp"
#include "report/text_sections.hpp"

namespace gpufl::report {
namespace {

using analysis::Distribution;
using analysis::SessionSummary;

Distribution times(uint64_t count, double each_ns) {
  Distribution distribution;
  distribution.add(each_ns, count);
  return distribution;
}

// The loop of a training program that waits in every step.
SessionSummary summary_with_stacks() {
  SessionSummary summary;
  summary.duration_ns = 77'450'000'000;
  auto& code = summary.code;
  code.stacks = 12;
  code.waits = {{{"train.py:90 in train_step()", "/home/me/train.py", 90,
                  "    torch.cuda.synchronize()", false},
                 "cudaDeviceSynchronize",
                 times(50, 1.4716e9)},
                {{"model.cpp:12 in Model::step(int)", "/home/me/model.cpp", 12,
                  "cudaEventSynchronize(done);", true},
                 "cudaEventSynchronize",
                 times(1, 2e6)},
                {{"<driver-internal>", "", 0, "", false}, "ContextSynchronize", times(2, 1e5)},
                {{"", "", 0, "", false}, "StreamSynchronize", times(1, 500)}};
  for (const auto& wait : code.waits) code.blocked_ns.merge(wait.blocked_ns);
  code.launches = {
      {{"train.py:81 in train_step()", "/home/me/train.py", 81, "", false}, times(61'000, 9'000)},
      {{"launch() of libmodel.so", "", 0, "", false}, times(1'000, 3'000)}};
  for (const auto& launch : code.launches) code.gpu_ns.merge(launch.gpu_ns);
  code.unresolved = {{"/home/me/train", "ab12", "build_id_mismatch", "", "", 4, 0}};
  return summary;
}

std::string section(const SessionSummary& summary, size_t width, size_t top) {
  TextPage page(width, false);
  write_waits(page, summary, top);
  write_launches(page, summary, top);
  return page.text();
}

// GPUFL_UPDATE_GOLDEN=1 writes the expected text anew, to be looked at in git.
void expect_golden(const std::string& text, const std::string& name) {
  const std::string path = std::string(GPUFL_GOLDEN_DIR) + "/" + name;
  if (std::getenv("GPUFL_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << path;
}

TEST(CodeSectionTest, LinesThatWaitedAndLaunched) {
  expect_golden(section(summary_with_stacks(), 100, 30), "code.txt");
}

TEST(CodeSectionTest, OnANarrowPageTheFirstOfThem) {
  expect_golden(section(summary_with_stacks(), 60, 2), "code_narrow.txt");
}

TEST(CodeSectionTest, WithoutStacksThereAreTotals) {
  SessionSummary summary = summary_with_stacks();
  summary.code.stacks = 0;
  summary.code.launches.clear();
  summary.code.unresolved.clear();
  summary.code.waits = {{{}, "StreamSynchronize", times(3, 1e9)}};
  summary.code.blocked_ns = times(3, 1e9);
  const std::string text = section(summary, 100, 30);
  EXPECT_NE(text.find("SYNCHRONIZATION: 3.000 s (3.9%) blocked in 3 waits"), std::string::npos)
      << text;
  EXPECT_NE(text.find("StreamSynchronize x 3  unknown: no stack"), std::string::npos) << text;
  EXPECT_NE(text.find("No stacks were recorded"), std::string::npos) << text;
  EXPECT_EQ(text.find("LAUNCHES"), std::string::npos) << text;
}

TEST(CodeSectionTest, NothingToSay) {
  EXPECT_EQ(section(SessionSummary{}, 100, 30), "");
  EXPECT_EQ(text_report(SessionSummary{}).find("SYNCHRONIZATION"), std::string::npos);
}

TEST(CodeSectionTest, ATerminalIsNotMadeToObeyALog) {
  SessionSummary summary = summary_with_stacks();
  summary.code.waits[0].call = "a\x1b[2J";
  summary.code.waits[0].site = {"b\x1b", "c\x1b", 1, "d\x1b", false};
  summary.code.launches[0].site.text = "e\x1b";
  summary.code.unresolved[0].path = "f\x1b";
  EXPECT_EQ(section(summary, 100, 30).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace gpufl::report
