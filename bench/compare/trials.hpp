// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/compare/comparison.hpp"
#include "analysis/compare/gate.hpp"
#include "bench/compare/steady_program.hpp"

// The same question asked many times of groups that are known to be alike, or to differ: how often
// diff and gate answer what. Used by compare_bench and by its small test.
namespace gpufl::bench {

inline constexpr size_t kRepeatsASide = 10;

// How often a gate gave each answer.
struct GateCounts {
  size_t passes = 0, regressions = 0, unsure = 0;

  void add(analysis::compare::Outcome outcome) {
    switch (outcome) {
      case analysis::compare::Outcome::Pass: ++passes; break;
      case analysis::compare::Outcome::Regression: ++regressions; break;
      case analysis::compare::Outcome::CannotTell: ++unsure; break;
    }
  }
};

struct TrialCounts {
  size_t diff_findings = 0;  // comparisons that found anything
  GateCounts at_most_5;      // --max-increase 5%
  GateCounts at_most_3;
};

// Every kernel that matters, every scope, and busy time.
inline std::vector<analysis::compare::Rule> every_rule(double max_increase) {
  using namespace analysis::compare;
  std::vector<Rule> rules(3);
  rules[0].subject = Subject::Kernel;
  rules[0].pattern = "*";
  rules[0].metric = Metric::Median;
  rules[1].subject = Subject::Scope;
  rules[1].pattern = "*";
  rules[1].metric = Metric::Busy;
  rules[2].subject = Subject::Total;
  rules[2].metric = Metric::Busy;
  for (Rule& rule : rules) rule.max_increase = max_increase;
  return rules;
}

// `planted`: in the second group of every pair.
inline TrialCounts run_trials(SteadyProgram& program, size_t pairs, const Noise& noise,
                              const Planted& planted = {}) {
  TrialCounts counts;
  for (size_t i = 0; i < pairs; ++i) {
    const auto a = program.group("A", kRepeatsASide, noise);
    const auto b = program.group("B", kRepeatsASide, noise, planted);
    if (analysis::compare::compare(a, b).has_difference()) ++counts.diff_findings;
    counts.at_most_5.add(analysis::compare::run_gate(a, b, every_rule(0.05)).outcome);
    counts.at_most_3.add(analysis::compare::run_gate(a, b, every_rule(0.03)).outcome);
  }
  return counts;
}

// How many of so many steady runs have halves between which diff finds something.
inline size_t halves_that_differ(SteadyProgram& program, size_t runs, const Noise& noise,
                                 size_t steps) {
  size_t differ = 0;
  for (size_t i = 0; i < runs; ++i) {
    const auto halves = analysis::compare::halves_of(program.run(noise, {}, steps));
    if (!halves) return runs;
    if (analysis::compare::compare(halves->first, halves->second).has_difference()) ++differ;
  }
  return differ;
}

}  // namespace gpufl::bench
