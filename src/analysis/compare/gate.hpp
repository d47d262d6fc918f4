// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/change.hpp"
#include "analysis/compare/group.hpp"
#include "analysis/compare/per_iteration.hpp"
#include "base/status.hpp"

// Whether a program has become slower than rules allow, for `gpufl gate`. Pure functions.
namespace gpufl::analysis::compare {

// How often a gate may see a regression where there is none, in all of its rules together; and how
// often an increase as large as its limit may pass it.
inline constexpr double kFalseAlarms = 0.025;
inline constexpr double kMissed = 0.005;
// How much of the time of a rule's matches may be of those that cannot be told, where others can.
inline constexpr double kUntoldShare = 0.1;

struct Rule {
  std::string name;  // what it is called; empty: as rule_text() says
  Subject subject = Subject::Total;
  // `*` any text, `?` one character. Kernels: of the name, whole or short; scopes: of the name,
  // `name / tag` or the path. Of Total: nothing.
  std::string pattern;
  Metric metric = Metric::Busy;
  double max_increase = 0.05;
  // Where a pattern matches several, those with less of the GPU's (scopes: the session's) time do
  // not matter.
  double min_share = 0.01;
  bool allow_noisy = false;  // what is too noisy to be judged passes
};
// "median of kernel 'gemm*' at most +5%"
std::string rule_text(const Rule& rule);
// InvalidArgument: why it makes no sense.
base::Status check_rule(const Rule& rule);

enum class Outcome : uint8_t { Pass, Regression, CannotTell };
std::string_view to_string(Outcome outcome);  // "no verdict"

// One thing under a rule. It passes when all of the change's interval is below the limit. Else it
// is a regression when the interval is above zero: it has become slower for sure, and by as much as
// the limit for all that is known. Else nobody can tell.
struct Judgement {
  Key key;
  double share = 0;  // of the GPU's time; of scopes, of the session's
  double baseline = 0, candidate = 0;
  size_t repeats_baseline = 0, repeats_candidate = 0;
  Change change;
  Outcome outcome = Outcome::CannotTell;
  // Why it cannot be told, passes though it is noisy, or is a regression though it was measured
  // below the limit; else empty.
  std::string reason;
};

struct RuleResult {
  Rule rule;
  Outcome outcome = Outcome::CannotTell;
  std::string reason;                 // why it cannot be told; else empty
  std::vector<Judgement> judgements;  // worst first
  size_t left_out = 0;                // matches below min_share
  bool is_per_iteration = false;      // its values are for one iteration
  // Matches that only one side has.
  std::vector<Key> only_baseline, only_candidate;
};

struct GateResult {
  std::string baseline, candidate;  // labels
  size_t repeats_baseline = 0, repeats_candidate = 0;
  Outcome outcome = Outcome::CannotTell;  // the worst: a regression, else what cannot be told
  std::vector<RuleResult> rules;
  std::vector<std::string> warnings;
  // Where the sides did different numbers of iterations; then sums and counts of what happens in
  // them are judged for one.
  std::optional<IterationNumbers> iterations;
};

// Repeats with losses are left out.
GateResult run_gate(const Group& baseline, const Group& candidate, std::span<const Rule> rules);

}  // namespace gpufl::analysis::compare
