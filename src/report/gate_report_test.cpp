// SPDX-License-Identifier: Apache-2.0
#include "report/gate_report.hpp"

#include <gtest/gtest.h>

#include "analysis/compare/test_groups.hpp"
#include "base/json.hpp"

namespace gpufl::report {
namespace {

using analysis::compare::GateResult;
using analysis::compare::Metric;
using analysis::compare::Rule;
using analysis::compare::Subject;
using analysis::compare::testing::GroupBuilder;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Rule kernel_rule(std::string pattern, std::string name = "") {
  Rule rule;
  rule.name = std::move(name);
  rule.subject = Subject::Kernel;
  rule.pattern = std::move(pattern);
  rule.metric = Metric::Median;
  return rule;
}

// One rule of each outcome.
GateResult result() {
  GroupBuilder a("main", 10);
  GroupBuilder b("pr", 10, 500);
  a.kernel("gemm", 10'000).kernel("relu", 5'000).kernel("old", 4'000);
  b.kernel("gemm", 11'000).kernel("relu", 5'000).kernel("new", 4'000);
  const Rule rules[] = {kernel_rule("relu"), kernel_rule("gemm", "products <big>"),
                        kernel_rule("none"), kernel_rule("*")};
  return run_gate(a.get(), b.get(), rules);
}

TEST(GateTextTest, SaysEachRulesOutcomeAndWhy) {
  const std::string text = gate_text(result());
  EXPECT_TRUE(has(text, "GPU performance: regression\n")) << text;
  EXPECT_TRUE(has(text, "median of kernel 'relu' at most +5%: pass")) << text;
  EXPECT_TRUE(has(text, "products <big> (median of kernel 'gemm' at most +5%): regression"))
      << text;
  EXPECT_TRUE(has(text, "  No such kernel in either side; there are ")) << text;
  EXPECT_TRUE(has(text, "Only in the baseline, not judged: old.")) << text;
  EXPECT_TRUE(has(text, "Only in the candidate, not judged: new.")) << text;
}

TEST(GateTextTest, SaysTheOutcomeOfAnOnlyRuleOnce) {
  GroupBuilder a("main", 1);
  GroupBuilder b("pr", 1, 500);
  const Rule rules[] = {Rule()};
  const std::string text =
      gate_text(run_gate(a.kernel("gemm", 10'000).get(), b.kernel("gemm", 10'000).get(), rules));
  EXPECT_TRUE(has(text, "GPU performance: no verdict\n")) << text;
  EXPECT_TRUE(has(text, "\nGPU busy time at most +5%\n  Too few repeats: 1 in the")) << text;
}

TEST(GateTextTest, SaysWhichRulesJudgeOneIteration) {
  GroupBuilder a("main", 10);
  GroupBuilder b("pr", 10, 500);
  a.kernel("gemm", 10'000, 100).iterations(100);
  b.kernel("gemm", 10'000, 120).iterations(120);
  const Rule rules[] = {Rule(), kernel_rule("gemm")};
  const GateResult result = run_gate(a.get(), b.get(), rules);
  const std::string text = gate_text(result);
  const std::string_view sentence =
      "Per iteration: 100 iterations in the baseline, 120 in the candidate (scopes: step).";
  EXPECT_TRUE(has(text, "GPU performance: pass\n")) << text;
  ASSERT_TRUE(has(text, sentence)) << text;
  EXPECT_LT(text.find(sentence), text.find("median of kernel")) << text;
  EXPECT_EQ(text.find(sentence), text.rfind(sentence)) << text;
  EXPECT_TRUE(has(gate_junit(result), sentence));
  const auto json = base::Json::parse(gate_json(result));
  EXPECT_EQ((*json)["iterations"]["candidate"]["most"].as_integer(), 120);
  EXPECT_TRUE((*json)["rules"].items()[0]["per_iteration"].as_bool());
  EXPECT_FALSE((*json)["rules"].items()[1]["per_iteration"].as_bool());
}

TEST(GateTextTest, ExplainsARegressionThatWasMeasuredBelowTheLimit) {
  GroupBuilder a("main", 10);
  GroupBuilder b("pr", 10, 500);
  const Rule rule = kernel_rule("gemm");
  const std::string text = gate_text(
      run_gate(a.kernel("gemm", 10'000).get(), b.kernel("gemm", 10'450).get(), {&rule, 1}));
  EXPECT_TRUE(
      has(text, "Fails for gemm: it is certainly slower, and an increase of 5% is not ruled"))
      << text;
}

TEST(GateMarkdownTest, IsForAPullRequest) {
  const std::string text = gate_markdown(result());
  EXPECT_TRUE(has(text, "GPU performance: regression")) << text;
  EXPECT_TRUE(has(text, "products \\<big\\>")) << text;
  EXPECT_TRUE(has(text, "| regression | +10")) << text;
}

TEST(GateJsonTest, HoldsEverything) {
  const auto json = base::Json::parse(gate_json(result()));
  ASSERT_TRUE(json.is_ok()) << json.status().text();
  EXPECT_EQ((*json)["outcome"].as_string(), "regression");
  const auto& rules = (*json)["rules"].items();
  ASSERT_EQ(rules.size(), 4u);
  EXPECT_EQ(rules[0]["outcome"].as_string(), "pass");
  EXPECT_EQ(rules[1]["name"].as_string(), "products <big>");
  EXPECT_NEAR(rules[1]["judgements"].items()[0]["change"].as_number(), 0.10, 0.01);
  EXPECT_TRUE(
      rules[2]["reason"].as_string().starts_with("no such kernel in either side; there are "));
  EXPECT_EQ(rules[3]["only_candidate"].items()[0]["kernel"].as_string(), "new");
}

TEST(GateJunitTest, ARegressionIsAFailureAndWhatCannotBeToldAnError) {
  const std::string text = gate_junit(result());
  EXPECT_TRUE(has(text, "<testsuites tests=\"4\" failures=\"2\" errors=\"1\">")) << text;
  EXPECT_TRUE(has(text, "name=\"products &lt;big&gt; (median of kernel 'gemm' at most +5%)\""))
      << text;
  EXPECT_TRUE(has(text, "<failure message=\"regression: gemm 10")) << text;
  EXPECT_TRUE(has(text, "<error message=\"no such kernel in either side; there are ")) << text;
}

}  // namespace
}  // namespace gpufl::report
