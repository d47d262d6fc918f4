// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/per_iteration.hpp"

#include <gtest/gtest.h>

#include <string>

#include "analysis/compare/comparison.hpp"
#include "analysis/compare/gate.hpp"
#include "analysis/compare/repeat_builder.hpp"
#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis::compare {
namespace {

using analysis::testing::TestSession;

// A program that prepares, trains and saves. The GPU is half a step behind.
struct Training {
  int64_t steps = 100;
  int64_t gemm_ns = 40'000;
  bool saves = false;  // after about every third step, at no fixed distance
  std::string_view step = "step";
  bool has_numbers = false;  // as tags of steps
};

Repeat run(const Training& training, int64_t seed = 0) {
  constexpr int64_t kSetup = 5'000'000;
  constexpr int64_t kStep = 100'000;
  TestSession session;
  session.scope("setup", 0, kSetup);
  session.kernel("fill", 100, 3'000'000);
  const int64_t train = session.scope("train", kSetup, training.steps * kStep);
  for (int64_t i = 0; i < training.steps; ++i) {
    const int64_t start = kSetup + i * kStep;
    const std::string tag = training.has_numbers ? std::to_string(i) : "";
    const int64_t step =
        session.scope(training.step, start, kStep - 1000, {.parent = train, .tag = tag});
    const auto kernel = [&](std::string_view name, int64_t at, int64_t duration) {
      session.kernel(name, start + at, duration,
                     {.scope = step, .api_start = start + at / 10, .api_duration = 500});
    };
    kernel("gemm", 60'000, training.gemm_ns + seed);
    for (int64_t layer = 0; layer < 10; ++layer) {
      kernel("relu" + std::to_string(layer), 110'000 + layer * 2'000, 1'000);
    }
    const bool saves_now = (i * 2'654'435'761 >> 7) % 3 == 0;
    if (training.saves && saves_now) kernel("save", 140'000, 5'000);
  }
  session.data.summary.ledger.emplace();
  session.data.summary.header.session_id = "s" + std::to_string(seed);
  session.data.summary.header.start_wall_ns = seed * 1'000'000'000;
  session.data.summary.header.engine = "Trace";
  session.data.summary.duration_ns = 2 * kSetup + training.steps * kStep + seed;
  RepeatBuilder builder;
  builder.add(session.finish());
  return builder.finish();
}

Group group_of(std::string label, const Training& training, int64_t repeats = 10) {
  Group group;
  group.label = std::move(label);
  // The two groups take turns.
  for (int64_t i = 0; i < repeats; ++i) group.repeats.push_back(run(training, 2 * i));
  return group;
}

double total_of(const Repeat& repeat, Metric metric) {
  return repeat.iterations->items.at(Key{})[metric].value_or(-1);
}

TEST(PerIterationTest, ARepeatHasTheFiguresOfOneIteration) {
  const Repeat repeat = run({});
  ASSERT_TRUE(repeat.iterations);
  EXPECT_EQ(repeat.iterations->label, "scopes: train > step");
  EXPECT_EQ(repeat.iterations->count, 100u);
  // Without the setup, and with the kernels that ran after the last step.
  EXPECT_EQ(total_of(repeat, Metric::Count), 11);
  EXPECT_EQ(total_of(repeat, Metric::Total), 50'000);
  EXPECT_EQ(total_of(repeat, Metric::Busy), 50'000);
  EXPECT_EQ(total_of(repeat, Metric::Time), 99'990);
  const Key gemm{Subject::Kernel, "", "gemm", ""};
  EXPECT_EQ(repeat.iterations->items.at(gemm)[Metric::Count], 1);
  EXPECT_EQ(repeat.iterations->items.at(gemm)[Metric::Median], 40'000);
  EXPECT_FALSE(repeat.iterations->items.contains({Subject::Kernel, "", "fill", ""}));
  EXPECT_FALSE(repeat.iterations->items.contains({Subject::Scope, "setup", "", ""}));
}

TEST(PerIterationTest, NumbersInTagsAreNotPartOfWhatIsCompared) {
  const Repeat repeat = run({.has_numbers = true});
  ASSERT_TRUE(repeat.iterations);
  const Key step{Subject::Scope, "train > step", "", ""};
  ASSERT_TRUE(repeat.iterations->items.contains(step));
  EXPECT_EQ(repeat.iterations->items.at(step)[Metric::Count], 1);
}

TEST(PerIterationTest, PhasesAndPausesLeaveNothingForOneIteration) {
  TestSession session;
  for (int64_t i = 0; i < 10; ++i) {
    session.scope("step", i * 1000, 990);
    session.kernel("gemm", i * 1000 + 100, 400);
  }
  session.coverage("Trace", 0, 6000);
  session.data.summary.duration_ns = 10'000;
  RepeatBuilder builder;
  builder.add(session.finish());
  EXPECT_FALSE(builder.finish().iterations);
}

TEST(PerIterationTest, OnlyDifferentNumbersOfTheSameIterationsCount) {
  const Group hundred = group_of("A", {.steps = 100}, 2);
  EXPECT_FALSE(different_iterations(hundred, hundred));
  EXPECT_FALSE(different_iterations(hundred, Group{}));
  Group other = group_of("B", {.steps = 120, .step = "batch"}, 2);
  EXPECT_EQ(iterations_text(*different_iterations(hundred, other), "A", "B"),
            "Per iteration: 100 iterations in A, 120 in B (scopes: train > step in A, scopes: "
            "train > batch in B)");
  // Of another name, and with twice the work.
  for (Repeat& repeat : other.repeats) *repeat.iterations->items[Key{}][Metric::Count] *= 2;
  EXPECT_FALSE(different_iterations(hundred, other));
  Group more = group_of("B", {.steps = 120}, 2);
  more.repeats.push_back(run({.steps = 118}));
  const auto numbers = different_iterations(hundred, more);
  ASSERT_TRUE(numbers);
  EXPECT_EQ(iterations_text(*numbers, "A", "B"),
            "Per iteration: 100 iterations in A, 118 to 120 in B (scopes: train > step)");
  more.repeats.back().iterations.reset();
  EXPECT_FALSE(different_iterations(hundred, more));
}

TEST(PerIterationTest, SaysThatWholeRunsAreComparedAllTheSame) {
  const Group a = group_of("A", {.steps = 100}, 1);
  Group b = group_of("B", {.steps = 120, .step = "batch"}, 1);
  EXPECT_EQ(compare(a, b).warnings, std::vector<std::string>());
  *b.repeats[0].iterations->items[Key{}][Metric::Count] *= 2;
  const Comparison comparison = compare(a, b);
  EXPECT_FALSE(comparison.per_iteration);
  ASSERT_EQ(comparison.warnings.size(), 1u);
  EXPECT_EQ(comparison.warnings[0],
            "Whole runs are compared, though their iterations differ: 100 in A (scopes: train > "
            "step) and 120 in B (scopes: train > batch) do not seem to be the same work");
}

TEST(PerIterationTest, MoreIterationsOfTheSameAreNoDifference) {
  for (const int64_t repeats : {1, 10}) {
    const Comparison comparison = compare(group_of("A", {.steps = 100, .saves = true}, repeats),
                                          group_of("B", {.steps = 120, .saves = true}, repeats));
    ASSERT_TRUE(comparison.per_iteration);
    EXPECT_FALSE(comparison.has_difference());
    EXPECT_EQ(comparison.totals.size(), 4u);
    EXPECT_EQ(comparison.per_iteration->b.low, 120u);
  }
}

TEST(PerIterationTest, WhatIsSlowerShowsThroughDifferentNumbers) {
  const Comparison comparison = compare(group_of("A", {.steps = 120, .gemm_ns = 32'000}),
                                        group_of("B", {.steps = 100, .gemm_ns = 40'000}));
  ASSERT_EQ(comparison.findings.size(), 2u);  // the kernel, and the busy time of its step
  EXPECT_EQ(comparison.findings[0].verdict, Verdict::Slower);
  EXPECT_NEAR(comparison.findings[0].impact_ns, 8'000, 100);  // of one iteration
  for (const Entry& total : comparison.totals) {
    const bool is_of_kernels = total.metric == Metric::Busy || total.metric == Metric::Total;
    EXPECT_EQ(total.verdict, is_of_kernels ? Verdict::Slower : Verdict::Same);
  }
}

TEST(PerIterationTest, WhatComesEveryFewIterationsAppears) {
  const Comparison comparison =
      compare(group_of("A", {.steps = 100}), group_of("B", {.steps = 120, .saves = true}));
  ASSERT_EQ(comparison.findings.size(), 2u);
  const Entry& save = comparison.findings.back();
  EXPECT_EQ(save.key.kernel, "save");
  EXPECT_EQ(save.verdict, Verdict::Appeared);
  EXPECT_EQ(save.a, 0);
  EXPECT_NEAR(save.b, 1.0 / 3, 0.01);
}

Outcome gate_of(const Rule& rule, bool is_per_iteration) {
  const GateResult result =
      run_gate(group_of("A", {.steps = 100}), group_of("B", {.steps = 120}), {&rule, 1});
  EXPECT_TRUE(result.iterations);
  EXPECT_EQ(result.rules[0].is_per_iteration, is_per_iteration) << rule_text(rule);
  return result.outcome;
}

TEST(PerIterationTest, AGateJudgesSumsAndCountsOfOneIteration) {
  for (const Metric metric : {Metric::Busy, Metric::Total, Metric::Count, Metric::Time}) {
    Rule rule;
    rule.metric = metric;
    EXPECT_EQ(gate_of(rule, true), Outcome::Pass) << to_string(metric);
  }
  Rule gemm;
  gemm.subject = Subject::Kernel;
  gemm.pattern = "gemm";
  gemm.metric = Metric::Total;
  EXPECT_EQ(gate_of(gemm, true), Outcome::Pass);
  // How long one takes does not depend on how many there are.
  gemm.metric = Metric::Median;
  EXPECT_EQ(gate_of(gemm, false), Outcome::Pass);
  // What is outside of the iterations is judged as a whole.
  Rule setup;
  setup.subject = Subject::Scope;
  setup.pattern = "setup";
  setup.metric = Metric::Total;
  EXPECT_EQ(gate_of(setup, false), Outcome::Pass);
}

TEST(PerIterationTest, AGateFindsWhatIsSlowerInFewerIterations) {
  Rule rule;
  rule.metric = Metric::Busy;
  const GateResult result = run_gate(group_of("A", {.steps = 120, .gemm_ns = 32'000}),
                                     group_of("B", {.steps = 100, .gemm_ns = 40'000}), {&rule, 1});
  EXPECT_EQ(result.outcome, Outcome::Regression);
}

}  // namespace
}  // namespace gpufl::analysis::compare
