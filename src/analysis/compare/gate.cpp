// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/gate.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "analysis/code/kernel_name.hpp"
#include "analysis/compare/comparison.hpp"
#include "analysis/figures/scope_work.hpp"
#include "text/glob.hpp"
#include "text/near_names.hpp"

namespace gpufl::analysis::compare {
namespace {

constexpr size_t kMostRepeatsAdvised = 200;

std::string percent(double fraction) { return fmt::format("{:.4g}%", fraction * 100); }

bool scope_matches(const std::string& pattern, const std::string& path) {
  if (text::matches_glob(pattern, path)) return true;
  const size_t above = path.rfind(" > ");
  const std::string last = above == std::string::npos ? path : path.substr(above + 3);
  return text::matches_glob(pattern, last) ||
         text::matches_glob(pattern, last.substr(0, last.find(" / ")));
}

bool rule_matches(const Rule& rule, const Key& key) {
  if (key.subject != rule.subject) return false;
  switch (rule.subject) {
    case Subject::Total: return true;
    case Subject::Scope: return scope_matches(rule.pattern, key.scope);
    case Subject::Kernel:
    case Subject::Config:
    case Subject::Launch:
    case Subject::Moved: break;
  }
  return text::matches_glob(rule.pattern, key.kernel) ||
         text::matches_glob(rule.pattern, short_kernel_name(key.kernel));
}

// Whether it adds up or counts what a program does; else it is of a single thing's duration.
bool grows_with_iterations(Metric metric) {
  return metric != Metric::Median && metric != Metric::Mean && metric != Metric::P90 &&
         metric != Metric::P99;
}

// Things that the rule is about: how many repeats have them, and their mean share.
struct Match {
  size_t repeats = 0;
  double share = 0;
};
std::map<Key, Match> matches_in(const Group& group, const Rule& rule) {
  const Metric whole = rule.subject == Subject::Scope ? Metric::Time : Metric::Total;
  std::map<Key, Match> matches;
  for (const Repeat& repeat : group.repeats) {
    const Item* total = repeat.find(Key{});
    const double all = total == nullptr ? 0 : (*total)[whole].value_or(0);
    for (const auto& [key, item] : repeat.items) {
      if (!item[rule.metric] || !rule_matches(rule, key)) continue;
      Match& match = matches[key];
      ++match.repeats;
      if (all > 0) {
        match.share +=
            item[Metric::Total].value_or(0) / all / static_cast<double>(group.repeats.size());
      }
    }
  }
  return matches;
}

struct Sides {
  Group baseline, candidate;

  // Whether anything is there on both that the rule could judge.
  bool have(const Rule& rule) const {
    const std::map<Key, Match> before = matches_in(baseline, rule);
    const std::map<Key, Match> after = matches_in(candidate, rule);
    return std::any_of(before.begin(), before.end(),
                       [&](const auto& match) { return after.contains(match.first); });
  }
};

// What the rule could have meant: kernels or scopes of the group, the nearest first.
std::string names_in(const Group& group, const Rule& rule) {
  std::vector<std::string> names;
  for (const Repeat& repeat : group.repeats) {
    for (const auto& [key, item] : repeat.items) {
      if (key.subject != rule.subject) continue;
      names.push_back(rule.subject == Subject::Scope ? key.scope : short_kernel_name(key.kernel));
    }
  }
  return text::nearest_listed(rule.pattern, std::move(names));
}

std::string why_nothing_matches(const Group& baseline, const Group& candidate, const Rule& rule,
                                bool in_baseline, bool in_candidate) {
  const std::string where = in_baseline    ? "the candidate"
                            : in_candidate ? "the baseline"
                                           : "either side";
  if (rule.subject != Subject::Total) {
    const std::string names = names_in(in_baseline ? candidate : baseline, rule);
    return fmt::format("no such {} in {}{}", to_string(rule.subject), where,
                       names.empty() ? "" : "; there are " + names);
  }
  return grows_with_iterations(rule.metric)
             ? fmt::format("no work of a GPU was recorded in {}", where)
             : fmt::format("no iterations were found in {}", where);
}

// What a rule is about on both sides, before anything is judged.
void collect(const Sides& sides, RuleResult& result) {
  const auto& [baseline, candidate] = sides;
  const Rule& rule = result.rule;
  const std::map<Key, Match> before = matches_in(baseline, rule);
  const std::map<Key, Match> after = matches_in(candidate, rule);
  std::map<Key, double> shares;  // of those on both sides
  for (const auto& [key, match] : before) {
    const auto other = after.find(key);
    if (other == after.end()) {
      result.only_baseline.push_back(key);
    } else {
      shares[key] = (match.share + other->second.share) / 2;
    }
  }
  for (const auto& [key, match] : after) {
    if (!before.contains(key)) result.only_candidate.push_back(key);
  }
  if (shares.empty()) {
    result.reason = why_nothing_matches(baseline, candidate, rule, !before.empty(), !after.empty());
    return;
  }
  for (const auto& [key, share] : shares) {
    if (shares.size() > 1 && share < rule.min_share) {
      ++result.left_out;
      continue;
    }
    Judgement judgement;
    judgement.key = key;
    judgement.share = share;
    result.judgements.push_back(std::move(judgement));
  }
  if (result.judgements.empty()) {
    result.reason = fmt::format("all {} matches have less than {} of the time each", shares.size(),
                                percent(rule.min_share));
  }
}

// How many repeats a side would let it be told, should the estimate stay: until the interval is
// below the limit, or above zero, whichever comes first.
size_t repeats_needed(const Judgement& judgement, const Rule& rule) {
  const double estimate = std::log1p(judgement.change.estimate);
  const double limit = std::log1p(rule.max_increase);
  const size_t repeats = std::min(judgement.repeats_baseline, judgement.repeats_candidate);
  size_t needed = SIZE_MAX;
  if (estimate < limit) {
    const double reach = std::log1p(judgement.change.high) - estimate;
    needed = std::min(needed, repeats_for(repeats, (limit - estimate) / reach));
  }
  if (estimate > 0) {
    const double reach = estimate - std::log1p(judgement.change.low);
    needed = std::min(needed, repeats_for(repeats, estimate / reach));
  }
  return needed;
}

std::string advice(const Judgement& judgement, const Rule& rule) {
  const size_t needed = repeats_needed(judgement, rule);
  if (needed > kMostRepeatsAdvised) {
    return fmt::format(
        "{:+.1f}% was measured, and more than {} repeats per side would be needed to distinguish "
        "that from no change or from the limit; these pass with a limit of {} or more. Raise the "
        "limit, or make the runs quieter (locked clocks, an idle machine, longer runs)",
        judgement.change.estimate * 100, kMostRepeatsAdvised,
        percent(std::ceil(judgement.change.high * 1000 + 1) / 1000));
  }
  return fmt::format("about {} repeats per side would be enough", needed);
}

std::string why_hidden(const Judgement& judgement, const Rule& rule) {
  const std::string increase = percent(rule.max_increase);
  const double step = rounding_of(rule.subject, rule.metric);
  if (step >= rule.max_increase * judgement.baseline) {
    return fmt::format(
        "the GPU's clock, with its steps of {} ns, hides an increase of {} in so short a kernel: "
        "only the mean and the total are finer",
        step, increase);
  }
  return fmt::format("noise hides an increase of {}: {}", increase, advice(judgement, rule));
}

void decide(Judgement& judgement, const Rule& rule) {
  const Change& change = judgement.change;
  if (!change.has_interval()) {
    judgement.reason =
        fmt::format("too few repeats have it: {} and {}; {} per side are needed",
                    judgement.repeats_baseline, judgement.repeats_candidate, kMinRepeats);
  } else if (change.high < rule.max_increase) {
    judgement.outcome = Outcome::Pass;
  } else if (change.is_increase()) {
    judgement.outcome = Outcome::Regression;
    if (change.estimate < rule.max_increase) {
      judgement.reason =
          fmt::format("it is certainly slower, and an increase of {} is not ruled out",
                      percent(rule.max_increase));
    }
  } else {
    judgement.reason = why_hidden(judgement, rule);
    if (rule.allow_noisy) judgement.outcome = Outcome::Pass;
  }
}

void compare_values(const Sides& sides, const Rule& rule, Errors errors, double rounding,
                    Judgement& judgement) {
  const auto a = values_of(sides.baseline.repeats, judgement.key, rule.metric);
  const auto b = values_of(sides.candidate.repeats, judgement.key, rule.metric);
  judgement.repeats_baseline = a.size();
  judgement.repeats_candidate = b.size();
  if (a.empty() || b.empty()) return;
  judgement.change = change_between(a, b, errors, rounding);
  judgement.baseline = trimmed_mean(a);
  judgement.candidate = trimmed_mean(b);
}

int severity(Outcome outcome) {
  return outcome == Outcome::Regression ? 2 : outcome == Outcome::CannotTell ? 1 : 0;
}
Outcome worse(Outcome a, Outcome b) { return severity(a) >= severity(b) ? a : b; }

void conclude(RuleResult& result) {
  if (result.judgements.empty()) return;
  std::stable_sort(result.judgements.begin(), result.judgements.end(),
                   [](const Judgement& a, const Judgement& b) {
                     if (a.outcome != b.outcome) return severity(a.outcome) > severity(b.outcome);
                     return a.change.estimate > b.change.estimate;
                   });
  result.outcome = result.judgements.front().outcome;
  if (result.outcome != Outcome::CannotTell) return;
  double all = 0;
  double untold = 0;
  for (const Judgement& judgement : result.judgements) {
    all += judgement.share;
    if (judgement.outcome == Outcome::CannotTell) untold += judgement.share;
  }
  if (untold <= kUntoldShare * all && result.judgements.back().outcome == Outcome::Pass) {
    result.outcome = Outcome::Pass;
  } else {
    result.reason = result.judgements.front().reason;
  }
}

// Of repeats that hold all that happened.
Group without_losses(const Group& group) {
  Group kept = group;
  std::erase_if(kept.repeats, [](const Repeat& repeat) { return !repeat.losses.empty(); });
  return kept;
}

std::string why_too_few(const Group& all_a, const Group& a, const Group& all_b, const Group& b) {
  if (std::min(a.repeats.size(), b.repeats.size()) >= kMinRepeats) return "";
  std::string text = fmt::format(
      "too few repeats: {} in the baseline, {} in the candidate; {} a "
      "side are needed",
      a.repeats.size(), b.repeats.size(), kMinRepeats);
  const size_t incomplete =
      all_a.repeats.size() - a.repeats.size() + all_b.repeats.size() - b.repeats.size();
  if (incomplete > 0) text += fmt::format("; {} more have an incomplete trace", incomplete);
  return text;
}

}  // namespace

std::string rule_text(const Rule& rule) {
  std::string what = total_text(rule.metric);
  if (rule.subject != Subject::Total) {
    what =
        fmt::format("{} of {} '{}'", to_string(rule.metric), to_string(rule.subject), rule.pattern);
  }
  return fmt::format("{} at most +{}", what, percent(rule.max_increase));
}

base::Status check_rule(const Rule& rule) {
  const auto refuse = [](std::string why) {
    return base::Status(base::Code::InvalidArgument, std::move(why));
  };
  if (!(rule.max_increase > 0) || rule.max_increase > 10) {
    return refuse(fmt::format("an increase of {} cannot be allowed; use more than 0%, up to 1000%",
                              percent(rule.max_increase)));
  }
  if (rule.min_share < 0 || rule.min_share > 1) {
    return refuse(
        fmt::format("a share of {} is out of range; use 0% to 100%", percent(rule.min_share)));
  }
  const bool is_kernel = rule.subject == Subject::Kernel;
  if (rule.metric == Metric::Busy && is_kernel) {
    return refuse("busy is of a scope or of the total; of a kernel, use total");
  }
  if (rule.metric == Metric::Time && rule.subject != Subject::Total) {
    return refuse("time is of the total; of a kernel or scope, use median or total");
  }
  return base::Status::ok();
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::Pass: return "pass";
    case Outcome::Regression: return "regression";
    case Outcome::CannotTell: break;
  }
  return "no verdict";
}

GateResult run_gate(const Group& baseline, const Group& candidate, std::span<const Rule> rules) {
  const Sides whole{without_losses(baseline), without_losses(candidate)};
  const Group& before = whole.baseline;
  const Group& after = whole.candidate;
  GateResult result;
  result.baseline = baseline.label;
  result.candidate = candidate.label;
  result.repeats_baseline = before.repeats.size();
  result.repeats_candidate = after.repeats.size();
  result.warnings = warnings_of(baseline, candidate);
  const bool is_budgeted = before.is_budgeted() || after.is_budgeted();
  const std::string too_few = why_too_few(baseline, before, candidate, after);
  std::optional<Sides> one;  // iteration
  if (too_few.empty()) result.iterations = different_iterations(before, after);
  if (result.iterations) one = Sides{for_one_iteration(before), for_one_iteration(after)};

  size_t family = 0;
  for (const Rule& rule : rules) {
    RuleResult& its = result.rules.emplace_back();
    its.rule = rule;
    if (!too_few.empty()) {
      its.reason = too_few;
    } else if (is_budgeted && is_gpu_total(rule.subject, rule.metric)) {
      its.reason =
          "sums and counts of sessions that were traced in phases are not compared: use the median "
          "or the mean, or record without a budget";
    } else {
      its.is_per_iteration = one && grows_with_iterations(rule.metric) && one->have(rule);
      collect(its.is_per_iteration ? *one : whole, its);
    }
    family += its.judgements.size();
  }
  // Each judgement gets its part of the alarms that all may raise together.
  const Errors errors{kFalseAlarms / static_cast<double>(std::max<size_t>(1, family)), kMissed};
  result.outcome = result.rules.empty() ? Outcome::CannotTell : Outcome::Pass;
  for (RuleResult& its : result.rules) {
    const Sides& sides = its.is_per_iteration ? *one : whole;
    const double rounding = rounding_of(its.rule.subject, its.rule.metric,
                                        its.is_per_iteration ? result.iterations : std::nullopt);
    for (Judgement& judgement : its.judgements) {
      compare_values(sides, its.rule, errors, rounding, judgement);
      decide(judgement, its.rule);
    }
    conclude(its);
    result.outcome = worse(result.outcome, its.outcome);
  }
  return result;
}

}  // namespace gpufl::analysis::compare
