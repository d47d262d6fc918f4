// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/gate.hpp"

#include <gtest/gtest.h>

#include "analysis/compare/test_groups.hpp"

namespace gpufl::analysis::compare {
namespace {

using testing::GroupBuilder;
using testing::kernel_key;

Rule kernel_rule(std::string pattern, double max_increase = 0.05) {
  Rule rule;
  rule.subject = Subject::Kernel;
  rule.pattern = std::move(pattern);
  rule.metric = Metric::Median;
  rule.max_increase = max_increase;
  return rule;
}

Rule total_rule(Metric metric) {
  Rule rule;
  rule.metric = metric;
  return rule;
}

GateResult gate_of(GroupBuilder& a, GroupBuilder& b, const Rule& rule) {
  return run_gate(a.get(), b.get(), {&rule, 1});
}

TEST(GateTest, WhatIsAlikePasses) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("gemm", 10'000);
  b.kernel("gemm", 10'050);
  const GateResult result = gate_of(a, b, kernel_rule("gemm"));
  EXPECT_EQ(result.outcome, Outcome::Pass);
  ASSERT_EQ(result.rules[0].judgements.size(), 1u);
  EXPECT_LT(result.rules[0].judgements[0].change.high, 0.05);
  EXPECT_EQ(result.rules[0].judgements[0].reason, "");
}

TEST(GateTest, AnIncreaseAsLargeAsTheLimitIsARegression) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("gemm", 10'000);
  b.kernel("gemm", 10'500);
  EXPECT_EQ(gate_of(a, b, kernel_rule("gemm", 0.05)).outcome, Outcome::Regression);
  EXPECT_EQ(gate_of(a, b, kernel_rule("gemm", 0.02)).outcome, Outcome::Regression);
  EXPECT_EQ(gate_of(a, b, kernel_rule("gemm", 0.20)).outcome, Outcome::Pass);
  EXPECT_EQ(gate_of(b, a, kernel_rule("gemm", 0.02)).outcome, Outcome::Pass);
}

TEST(GateTest, SumsAndCountsOfBudgetedSessionsAreNotJudged) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("gemm", 10'000);
  b.kernel("gemm", 10'000);
  a.get().repeats[0].is_budgeted = true;
  Rule rule = kernel_rule("gemm");
  EXPECT_EQ(gate_of(a, b, rule).outcome, Outcome::Pass);
  for (const Metric metric : {Metric::Total, Metric::Count}) {
    rule.metric = metric;
    rule.allow_noisy = true;
    const GateResult result = gate_of(a, b, rule);
    EXPECT_EQ(result.outcome, Outcome::CannotTell);
    EXPECT_NE(result.rules[0].reason.find("traced in phases"), std::string::npos);
  }
  const Rule busy{.name = "", .subject = Subject::Total, .pattern = "", .metric = Metric::Busy};
  EXPECT_EQ(gate_of(a, b, busy).outcome, Outcome::CannotTell);
}

TEST(GateTest, ARegressionThatWasMeasuredBelowTheLimitSaysWhy) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("gemm", 10'000);
  b.kernel("gemm", 10'450);
  const GateResult result = gate_of(a, b, kernel_rule("gemm", 0.05));
  EXPECT_EQ(result.outcome, Outcome::Regression);
  EXPECT_EQ(result.rules[0].judgements[0].reason,
            "it is certainly slower, and an increase of 5% is not ruled out");
  EXPECT_EQ(gate_of(a, b, kernel_rule("gemm", 0.04)).rules[0].judgements[0].reason, "");
}

TEST(GateTest, SaysFromWhichLimitOnItWouldPass) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("gemm", 100'000);
  b.kernel("gemm", 100'000);
  Rule rule = kernel_rule("gemm", 0.0001);
  rule.metric = Metric::Mean;  // which has no steps of the clock
  const Judgement told = gate_of(a, b, rule).rules[0].judgements[0];
  EXPECT_EQ(told.outcome, Outcome::CannotTell);
  EXPECT_NE(told.reason.find("+0.0% was measured, and more than 200 repeats"), std::string::npos)
      << told.reason;
  const size_t at = told.reason.find("a limit of ");
  ASSERT_NE(at, std::string::npos) << told.reason;
  rule.max_increase = std::stod(told.reason.substr(at + 11)) / 100;
  EXPECT_EQ(gate_of(a, b, rule).outcome, Outcome::Pass);
}

TEST(GateTest, NoiseThatHidesTheLimitCannotBeTold) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("gemm", 100'000);
  b.kernel("gemm", 100'000);
  Rule rule = kernel_rule("gemm", 0.001);
  GateResult result = gate_of(a, b, rule);
  EXPECT_EQ(result.outcome, Outcome::CannotTell);
  EXPECT_NE(result.rules[0].reason.find("noise hides an increase of 0.1%"), std::string::npos);
  rule.allow_noisy = true;
  result = gate_of(a, b, rule);
  EXPECT_EQ(result.outcome, Outcome::Pass);
  EXPECT_NE(result.rules[0].judgements[0].reason, "");
}

// More repeats prove first that it is slower, long before they tell it from the limit.
TEST(GateTest, AdvisesTheFewestRepeatsThatTell) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("gemm", 100'000);
  b.kernel("gemm", 100'000);
  for (size_t i = 0; i < 10; ++i) {
    const double value = i % 2 == 0 ? 92'000 : 108'000;
    a.get().repeats[i].items[kernel_key("gemm")][Metric::Median] = value;
    b.get().repeats[i].items[kernel_key("gemm")][Metric::Median] = value * 1.049;
  }
  const GateResult result = gate_of(a, b, kernel_rule("gemm", 0.05));
  EXPECT_EQ(result.outcome, Outcome::CannotTell);
  EXPECT_NE(result.rules[0].reason.find(" repeats per side would be enough"), std::string::npos)
      << result.rules[0].reason;
}

TEST(GateTest, TooFewRepeatsCannotBeTold) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 4);
  a.kernel("gemm", 10'000);
  b.kernel("gemm", 20'000);
  const GateResult result = gate_of(a, b, kernel_rule("gemm"));
  EXPECT_EQ(result.outcome, Outcome::CannotTell);
  EXPECT_EQ(result.rules[0].reason,
            "too few repeats: 10 in the baseline, 4 in the candidate; 5 a side are needed");
}

TEST(GateTest, RepeatsWithLossesAreNotJudged) {
  GroupBuilder a("A", 6);
  GroupBuilder b("B", 6);
  a.kernel("gemm", 10'000);
  b.kernel("gemm", 10'000);
  b.get().repeats[0].losses = {"cut off"};
  GateResult result = gate_of(a, b, kernel_rule("gemm"));
  EXPECT_EQ(result.outcome, Outcome::Pass);
  EXPECT_EQ(result.repeats_candidate, 5u);
  EXPECT_FALSE(result.warnings.empty());
  b.get().repeats[1].losses = {"cut off"};
  result = gate_of(a, b, kernel_rule("gemm"));
  EXPECT_EQ(result.outcome, Outcome::CannotTell);
  EXPECT_EQ(result.rules[0].reason,
            "too few repeats: 6 in the baseline, 4 in the candidate; 5 a side are needed; 2 more "
            "have an incomplete trace");
}

TEST(GateTest, WhatIsNotThereCannotBeTold) {
  GroupBuilder a("A", 5);
  GroupBuilder b("B", 5);
  a.kernel("gemm", 10'000).kernel("old", 10'000);
  b.kernel("gemm", 10'000).kernel("new", 10'000);
  const auto reason = [&](const char* kernel) {
    return gate_of(a, b, kernel_rule(kernel)).rules[0].reason;
  };
  EXPECT_TRUE(reason("none").starts_with("no such kernel in either side; there are "))
      << reason("none");
  EXPECT_TRUE(reason("old").starts_with("no such kernel in the candidate; there are "))
      << reason("old");
  EXPECT_EQ(reason("new"), "no such kernel in the baseline; there are gemm, old");
  EXPECT_EQ(gate_of(a, b, total_rule(Metric::P90)).rules[0].reason,
            "no iterations were found in either side");
  const GateResult all = gate_of(a, b, kernel_rule("*"));
  EXPECT_EQ(all.outcome, Outcome::Pass);
  EXPECT_EQ(all.rules[0].only_baseline, std::vector<Key>{kernel_key("old")});
  EXPECT_EQ(all.rules[0].only_candidate, std::vector<Key>{kernel_key("new")});
}

TEST(GateTest, OfSeveralMatchesTheWorstDecidesAndSmallOnesAreLeftOut) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("gemm_a", 10'000).kernel("gemm_b", 10'000).kernel("gemm_tiny", 50);
  b.kernel("gemm_a", 10'000).kernel("gemm_b", 11'000).kernel("gemm_tiny", 200);
  const GateResult result = gate_of(a, b, kernel_rule("gemm_*"));
  EXPECT_EQ(result.outcome, Outcome::Regression);
  ASSERT_EQ(result.rules[0].judgements.size(), 2u);
  EXPECT_EQ(result.rules[0].judgements[0].key, kernel_key("gemm_b"));
  EXPECT_EQ(result.rules[0].left_out, 1u);
  // Asked for by its own name, it matters.
  EXPECT_EQ(gate_of(a, b, kernel_rule("gemm_tiny")).outcome, Outcome::Regression);
}

TEST(GateTest, AFewNoisyOnesAmongManyDoNotKeepARuleFromPassing) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("big", 100'000).kernel("noisy", 5'000);
  b.kernel("big", 100'000).kernel("noisy", 5'000);
  const auto shake = [](Group& group, const char* name) {
    for (size_t i = 0; i < group.repeats.size(); ++i) {
      group.repeats[i].items[kernel_key(name)][Metric::Median] = i % 2 == 0 ? 4'000 : 6'000;
    }
  };
  shake(a.get(), "noisy");
  shake(b.get(), "noisy");
  const GateResult result = gate_of(a, b, kernel_rule("*"));
  EXPECT_EQ(result.outcome, Outcome::Pass);
  EXPECT_EQ(result.rules[0].judgements[0].outcome, Outcome::CannotTell);
  EXPECT_EQ(gate_of(a, b, kernel_rule("noisy")).outcome, Outcome::CannotTell);
  shake(a.get(), "big");
  shake(b.get(), "big");
  EXPECT_EQ(gate_of(a, b, kernel_rule("*")).outcome, Outcome::CannotTell);
}

TEST(GateTest, AKernelTooShortForTheClockIsToldApartFromNoise) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("short", 500);
  b.kernel("short", 500);
  Rule rule = kernel_rule("short");
  const GateResult result = gate_of(a, b, rule);
  EXPECT_EQ(result.outcome, Outcome::CannotTell);
  EXPECT_EQ(result.rules[0].reason,
            "the GPU's clock, with its steps of 32 ns, hides an increase of 5% in so short a "
            "kernel: only the mean and the total are finer");
  rule.metric = Metric::Mean;
  EXPECT_EQ(gate_of(a, b, rule).outcome, Outcome::Pass);
}

TEST(GateTest, ScopesMatchByNameTagAndPath) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("k", 10'000'000).scope("train > step / 3", 1e8);
  b.kernel("k", 10'000'000).scope("train > step / 3", 1.2e8);
  Rule rule;
  rule.subject = Subject::Scope;
  rule.metric = Metric::Busy;
  for (const char* pattern : {"step", "step / 3", "train > *"}) {
    rule.pattern = pattern;
    EXPECT_EQ(gate_of(a, b, rule).outcome, Outcome::Regression) << pattern;
  }
  rule.pattern = "train";
  EXPECT_EQ(gate_of(a, b, rule).outcome, Outcome::CannotTell);
}

TEST(GateTest, KernelsMatchByTheirShortNameToo) {
  GroupBuilder a("A", 5);
  GroupBuilder b("B", 5);
  a.kernel("void ns::gemm<float>(float*)", 10'000);
  b.kernel("void ns::gemm<float>(float*)", 10'000);
  EXPECT_EQ(gate_of(a, b, kernel_rule("gemm")).outcome, Outcome::Pass);
  EXPECT_EQ(gate_of(a, b, kernel_rule("*<float>*")).outcome, Outcome::Pass);
}

TEST(GateTest, CountsAreExact) {
  GroupBuilder a("A", 5);
  GroupBuilder b("B", 5);
  a.kernel("gemm", 10'000, 100);
  b.kernel("gemm", 10'000, 106);
  EXPECT_EQ(gate_of(a, b, total_rule(Metric::Count)).outcome, Outcome::Regression);
  EXPECT_EQ(gate_of(a, a, total_rule(Metric::Count)).outcome, Outcome::Pass);
}

TEST(GateTest, ARegressionWeighsMoreThanWhatCannotBeTold) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("gemm", 10'000);
  b.kernel("gemm", 12'000);
  const std::vector<Rule> rules{kernel_rule("none"), kernel_rule("gemm")};
  EXPECT_EQ(run_gate(a.get(), b.get(), rules).outcome, Outcome::Regression);
  EXPECT_EQ(run_gate(a.get(), a.get(), rules).outcome, Outcome::CannotTell);
}

TEST(CheckRuleTest, RefusesWhatMakesNoSense) {
  EXPECT_TRUE(check_rule(kernel_rule("k")).is_ok());
  EXPECT_FALSE(check_rule(kernel_rule("k", 0)).is_ok());
  EXPECT_FALSE(check_rule(kernel_rule("k", -0.05)).is_ok());
  Rule rule = kernel_rule("k");
  rule.metric = Metric::Busy;
  EXPECT_FALSE(check_rule(rule).is_ok());
  rule.metric = Metric::Time;
  EXPECT_FALSE(check_rule(rule).is_ok());
  EXPECT_TRUE(check_rule(total_rule(Metric::Time)).is_ok());
}

TEST(RuleTextTest, SaysTheRule) {
  EXPECT_EQ(rule_text(kernel_rule("gemm*")), "median of kernel 'gemm*' at most +5%");
  EXPECT_EQ(rule_text(total_rule(Metric::Busy)), "GPU busy time at most +5%");
}

}  // namespace
}  // namespace gpufl::analysis::compare
