// SPDX-License-Identifier: Apache-2.0
#include "workbench/compare.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "workbench/test_repeats.hpp"

namespace gpufl::workbench {
namespace {

namespace fs = std::filesystem;
using analysis::compare::Outcome;
using testing::TestRepeats;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Without the line breaks and indents that fit it to a width.
std::string unwrapped(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += word + " ";
  return line;
}

analysis::compare::Rule kernel_rule() {
  analysis::compare::Rule rule;
  rule.subject = analysis::compare::Subject::Kernel;
  rule.pattern = "gemm";
  rule.metric = analysis::compare::Metric::Median;
  return rule;
}

std::string diff_as(Format format, const DiffRequest& request) {
  const auto comparison = diff(request);
  return comparison ? write_diff(*comparison, format, {}) : comparison.status().text();
}

TEST(CompareTest, DiffTellsSlowerFromAlike) {
  const TestRepeats repeats;
  DiffRequest request;
  request.a = {repeats.group("a", 20'000, 6)};
  request.b = {repeats.group("alike", 20'000, 6)};
  std::string text = diff_as(Format::Text, request);
  EXPECT_TRUE(has(text, "Comparison: no difference\n")) << text;
  request.b = {repeats.group("slower", 22'000, 6)};
  text = diff_as(Format::Text, request);
  EXPECT_TRUE(has(text, "Comparison: different: 1 slower\n")) << text;
  EXPECT_TRUE(has(diff_as(Format::Json, request), "\"has_difference\":true"));
  EXPECT_TRUE(has(diff_as(Format::Markdown, request), "# ")) << diff_as(Format::Markdown, request);
}

TEST(CompareTest, DiffOfSingleSessionsIsNotProof) {
  const TestRepeats repeats;
  DiffRequest request;
  request.a = {repeats.group("a", 20'000, 1)};
  request.b = {repeats.group("b", 30'000, 1)};
  EXPECT_TRUE(
      has(diff_as(Format::Text, request), "too few repeats to be sure, but different: 1 slower"));
}

TEST(CompareTest, HalvesAreOfOneSession) {
  const TestRepeats repeats;
  DiffRequest request;
  request.halves_of = repeats.group("a", 20'000, 1);
  const std::string text = diff_as(Format::Text, request);
  EXPECT_TRUE(has(text, "Comparison: no difference\n")) << text;
  request.halves_of = repeats.group("b", 20'000, 2);
  EXPECT_EQ(diff(request).status().code(), base::Code::InvalidArgument);
  request.halves_of = repeats.path() / "nothing";
  EXPECT_EQ(diff(request).status().code(), base::Code::NotFound);
}

TEST(CompareTest, AFolderWithoutSessionsIsAnError) {
  const TestRepeats repeats;
  DiffRequest request;
  request.a = {repeats.group("a", 20'000, 1)};
  request.b = {repeats.path() / "nothing"};
  EXPECT_TRUE(has(diff_as(Format::Text, request), "there is no such file or folder"));
  GateRequest judged;
  judged.baseline = request.b;
  judged.candidate = request.a;
  judged.rules = {kernel_rule()};
  EXPECT_EQ(gate(judged).status().code(), base::Code::NotFound);
}

TEST(CompareTest, StopsWhenItsCallerSaysSo) {
  const TestRepeats repeats;
  DiffRequest request;
  request.a = request.b = {repeats.group("a", 20'000, 2)};
  size_t calls = 0;
  request.open.progress = [&](Stage stage, uint64_t, uint64_t) {
    EXPECT_EQ(stage, Stage::Reading);
    return ++calls < 3;
  };
  EXPECT_EQ(diff(request).status().code(), base::Code::Cancelled);
  EXPECT_EQ(calls, 3u);
}

TEST(CompareTest, GateTellsRegressions) {
  const TestRepeats repeats;
  GateRequest request;
  request.baseline = {repeats.group("a", 20'000, 6)};
  request.rules = {kernel_rule()};
  request.candidate = {repeats.group("alike", 20'000, 6)};
  EXPECT_EQ(gate(request)->outcome, Outcome::Pass);
  request.candidate = {repeats.group("slower", 22'000, 6)};
  auto result = gate(request);
  ASSERT_TRUE(result) << result.status().text();
  EXPECT_EQ(result->outcome, Outcome::Regression);
  EXPECT_TRUE(has(write_gate(*result, Format::Text, {}), "GPU performance: regression\n"));
  EXPECT_TRUE(has(write_gate(*result, Format::Junit, {}), "<testsuite"));
  EXPECT_TRUE(has(write_gate(*result, Format::Json, {}), "\"outcome\":\"regression\""))
      << write_gate(*result, Format::Json, {});
  request.candidate = {repeats.group("few", 22'000, 3)};
  result = gate(request);
  ASSERT_TRUE(result) << result.status().text();
  EXPECT_EQ(result->outcome, Outcome::CannotTell);
  EXPECT_TRUE(has(write_gate(*result, Format::Text, {}), "Too few repeats"));
}

TEST(CompareTest, IncompleteTracesAreNotJudged) {
  const TestRepeats repeats;
  GateRequest request;
  request.baseline = {repeats.group("a", 20'000, 6)};
  request.rules = {kernel_rule()};
  const auto gate_with = [&](const std::string& name, const format::Ledger& ledger) {
    const fs::path folder = repeats.group(name, 20'000, 4);
    repeats.write_session(folder, 20'000, 4, ledger);
    request.candidate = {folder};
    const auto result = gate(request);
    EXPECT_TRUE(result) << result.status().text();
    return *result;
  };
  EXPECT_EQ(gate_with("whole", {}).outcome, Outcome::Pass);
  format::Ledger dropped, truncated;
  dropped.vendor_dropped = 5;
  truncated.uncounted = {format::Ledger::kTruncatedTrace};
  for (const auto& [ledger, why] : {std::pair(dropped, "its ledger says that records are missing"),
                                    std::pair(truncated, "imported from ends early")}) {
    const analysis::compare::GateResult result = gate_with(why, ledger);
    EXPECT_EQ(result.outcome, Outcome::CannotTell);
    const std::string text = unwrapped(write_gate(result, Format::Text, {}));
    EXPECT_TRUE(has(text, "1 more have an incomplete trace")) << text;
    EXPECT_TRUE(has(text, why)) << text;
  }
}

}  // namespace
}  // namespace gpufl::workbench
