// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "analysis/compare/moved_launches.hpp"
#include "analysis/compare/without_scopes.hpp"

namespace gpufl::analysis::compare {
namespace {

// By how many times what the quarters of a half differ the halves must differ: 2 is what a steady
// drift does.
constexpr double kDriftFactor = 3;

bool is_duration(Metric metric) { return metric != Metric::Count; }

double value_or_zero(const Repeat& repeat, const Key& key, Metric metric) {
  const Item* item = repeat.find(key);
  return item == nullptr ? 0 : (*item)[metric].value_or(0);
}

// Whether a repeat without it has it zero times; else that is not known. Of all of it, only what is
// of the GPU is asked so.
bool is_told_of(const Repeat& repeat, const Key& key) {
  return key.subject == Subject::Scope || repeat.records_gpu_work();
}

double mean_of(std::span<const Repeat> repeats, const Key& key, Metric metric) {
  double sum = 0;
  size_t told = 0;
  for (const Repeat& repeat : repeats) {
    if (!is_told_of(repeat, key)) continue;
    sum += value_or_zero(repeat, key, metric);
    ++told;
  }
  return told == 0 ? 0 : sum / static_cast<double>(told);
}

// How often it was there.
std::vector<double> counts_of(std::span<const Repeat> repeats, const Key& key) {
  std::vector<double> counts;
  counts.reserve(repeats.size());
  for (const Repeat& repeat : repeats) {
    if (!is_told_of(repeat, key)) continue;
    counts.push_back(value_or_zero(repeat, key, Metric::Count));
  }
  return counts;
}

bool is_shared_known(const Group& group, const std::string& kernel) {
  return std::none_of(group.repeats.begin(), group.repeats.end(),
                      [&](const Repeat& repeat) { return repeat.unknown_shared.contains(kernel); });
}

bool records_gpu_work(const Group& group) {
  return group.repeats.empty() || std::any_of(group.repeats.begin(), group.repeats.end(),
                                              std::mem_fn(&Repeat::records_gpu_work));
}

// One metric of one thing on both sides, before it is judged.
struct Pair {
  Key key;
  Metric metric;
  std::vector<double> a, b;
  // Stands for zero times, which has no logarithm: below any count, which for one iteration may be
  // below one.
  double absent = 0.5;

  void replace_zeros() {
    for (const std::vector<double>* side : {&a, &b}) {
      for (const double count : *side) {
        if (count > 0) absent = std::min(absent, count / 2);
      }
    }
    for (std::vector<double>* side : {&a, &b})
      std::replace(side->begin(), side->end(), 0.0, absent);
  }

  bool is_constant() const {
    const double first = a.front();
    const auto is_first = [first](double value) { return value == first; };
    return std::all_of(a.begin(), a.end(), is_first) && std::all_of(b.begin(), b.end(), is_first);
  }
};

class Comparer {
 public:
  Comparer(const Group& a, const Group& b, const std::vector<MovedLaunch>& moved,
           const std::optional<IterationNumbers>& per_iteration, const CompareOptions& options)
      : a_(a), b_(b), options_(options), is_budgeted_(a.is_budgeted() || b.is_budgeted()) {
    comparison_.label_a = a.label;
    comparison_.label_b = b.label;
    comparison_.repeats_a = a.repeats.size();
    comparison_.repeats_b = b.repeats.size();
    comparison_.options = options;
    comparison_.parts = a.parts;
    comparison_.per_iteration = per_iteration;
    if (!a.repeats.empty()) comparison_.devices_a = a.repeats.front().devices;
    if (!b.repeats.empty()) comparison_.devices_b = b.repeats.front().devices;
    comparison_.records_gpu_work_a = records_gpu_work(a);
    comparison_.records_gpu_work_b = records_gpu_work(b);
    comparison_.are_scopes_compared = have_scopes_in_common(a, b);
    comparison_.has_scopes_a = has_scopes(a);
    comparison_.has_scopes_b = has_scopes(b);
    for (const MovedLaunch& launch : moved) moved_.emplace(launch.key, &launch);
    comparison_.warnings = warnings_of(a, b);
    if (std::min(a.repeats.size(), b.repeats.size()) >= kMinRepeats) {
      comparison_.proof = a.is_of_one_session ? Proof::Parts : Proof::Repeats;
    }
  }

  Comparison run() {
    if (a_.repeats.empty() || b_.repeats.empty()) return std::move(comparison_);
    gather();
    if (!comparison_.are_scopes_compared) {
      comparison_.scopes_a = scopes_of(a_);
      comparison_.scopes_b = scopes_of(b_);
    }
    // What cannot differ cannot be a false alarm; whether it can does not depend on the side.
    comparison_.compared = static_cast<size_t>(std::count_if(
        pairs_.begin(), pairs_.end(), [](const Pair& p) { return !p.is_constant(); }));
    std::vector<Entry> entries;
    entries.reserve(pairs_.size());
    for (const Pair& pair : pairs_) entries.push_back(judge(pair));
    mark_changed(entries);
    for (Entry& entry : entries) {
      std::vector<Entry>& list = entry.key.subject == Subject::Total ? comparison_.totals
                                 : is_difference(entry.verdict)      ? comparison_.findings
                                                                     : comparison_.alike;
      list.push_back(std::move(entry));
    }
    for (std::vector<Entry>* list : {&comparison_.findings, &comparison_.alike}) {
      std::stable_sort(list->begin(), list->end(), [](const Entry& x, const Entry& y) {
        return std::abs(x.impact_ns) > std::abs(y.impact_ns);
      });
    }
    return std::move(comparison_);
  }

 private:
  size_t min_values() const { return comparison_.proof == Proof::None ? 1 : kMinRepeats; }

  void add(const Key& key, Metric metric) {
    if (is_budgeted_ && is_gpu_total(key.subject, metric)) return;
    Pair pair{key, metric, {}, {}};
    if (metric == Metric::Count) {
      pair.a = counts_of(a_.repeats, key);
      pair.b = counts_of(b_.repeats, key);
      pair.replace_zeros();
    } else {
      pair.a = values_of(a_.repeats, key, metric);
      pair.b = values_of(b_.repeats, key, metric);
    }
    if (std::min(pair.a.size(), pair.b.size()) >= min_values()) pairs_.push_back(std::move(pair));
  }

  // Of all repeats together, so that it says nothing about the difference of the sides.
  double share_of(const Key& key) const {
    const Metric whole = key.subject == Subject::Scope ? Metric::Time : Metric::Total;
    double share = 0;
    size_t told = 0;
    for (const Group* group : {&a_, &b_}) {
      for (const Repeat& repeat : group->repeats) {
        if (!is_told_of(repeat, key)) continue;
        ++told;
        const double all = value_or_zero(repeat, Key{}, whole);
        if (all > 0) share += value_or_zero(repeat, key, Metric::Total) / all;
      }
    }
    return told == 0 ? 0 : share / static_cast<double>(told);
  }

  void gather() {
    for (const Metric metric : {Metric::Time, Metric::Busy, Metric::Total}) add(Key{}, metric);
    const bool has_kernels = mean_of(a_.repeats, Key{}, Metric::Count) > 0 ||
                             mean_of(b_.repeats, Key{}, Metric::Count) > 0;
    if (has_kernels) add(Key{}, Metric::Count);
    const bool has_gpu_work = comparison_.records_gpu_work_a && comparison_.records_gpu_work_b;
    std::set<Key> keys;
    for (const Group* group : {&a_, &b_}) {
      for (const Repeat& repeat : group->repeats) {
        for (const auto& [key, item] : repeat.items) {
          const bool is_launch = key.subject == Subject::Launch || key.subject == Subject::Moved;
          const bool is_scope = key.subject == Subject::Scope && comparison_.are_scopes_compared;
          if (is_scope || (is_launch && has_gpu_work)) keys.insert(key);
        }
      }
    }
    for (const Key& key : keys) {
      if (share_of(key) < options_.min_share) {
        ++comparison_.left_out;
        continue;
      }
      const MovedLaunch* moved = moved_launch(key);
      add(key, moved == nullptr || moved->is_one_to_one() ? Metric::Median : Metric::Mean);
      if (key.subject == Subject::Scope) add(key, Metric::Busy);
      add(key, Metric::Count);
    }
  }

  // Those that take too little of the time are left out.
  std::vector<std::string> scopes_of(const Group& group) {
    std::set<Key> keys;
    for (const Repeat& repeat : group.repeats) {
      for (const auto& [key, item] : repeat.items) {
        if (key.subject == Subject::Scope) keys.insert(key);
      }
    }
    std::vector<std::pair<double, std::string>> by_time;
    for (const Key& key : keys) {
      const double total = mean_of(group.repeats, key, Metric::Total);
      const double time = mean_of(group.repeats, Key{}, Metric::Time);
      if (total < options_.min_share * time) {
        ++comparison_.left_out;
      } else {
        by_time.emplace_back(-total, key.scope);
      }
    }
    std::sort(by_time.begin(), by_time.end());
    std::vector<std::string> paths;
    for (auto& [total, path] : by_time) paths.push_back(std::move(path));
    return paths;
  }

  // Null: it is not of Subject::Moved.
  const MovedLaunch* moved_launch(const Key& key) const {
    const auto found = moved_.find(key);
    return found == moved_.end() ? nullptr : found->second;
  }

  Entry judge(const Pair& pair) const {
    Entry entry;
    entry.key = pair.key;
    entry.metric = pair.metric;
    entry.repeats_a = pair.a.size();
    entry.repeats_b = pair.b.size();
    const double rounding = rounding_of(pair.key.subject, pair.metric, comparison_.per_iteration);
    const auto family = static_cast<double>(std::max<size_t>(1, comparison_.compared));
    const double error = kCompareError / 2 / family;
    entry.change = change_between(pair.a, pair.b, {error, error}, rounding);
    entry.a = trimmed_mean(pair.a);
    entry.b = trimmed_mean(pair.b);
    if (pair.metric == Metric::Count) {
      const double none = pair.absent * 1.001;  // a mean of it is not exactly that
      if (entry.a <= none) entry.a = 0;
      if (entry.b <= none) entry.b = 0;
    }
    entry.impact_ns = impact_of(pair, entry);
    entry.has_impact = !is_budgeted_ || !is_gpu_total(pair.key.subject, Metric::Total);
    if (differs(pair, entry.change, rounding)) {
      entry.verdict = verdict_of(pair, entry);
    } else if (is_beyond_noise(pair, entry.change)) {
      entry.verdict = Verdict::Drifts;
    } else if (!is_told(pair, entry.change)) {
      entry.verdict = Verdict::Untold;
    }
    if (const MovedLaunch* moved = moved_launch(pair.key)) {
      entry.launches_a = moved->a;
      entry.launches_b = moved->b;
      entry.is_shared_known =
          is_shared_known(a_, pair.key.kernel) && is_shared_known(b_, pair.key.kernel);
    }
    if (entry.verdict == Verdict::Appeared) {
      entry.change.estimate = std::numeric_limits<double>::infinity();
    }
    if (entry.verdict == Verdict::Vanished) entry.change.estimate = -1;
    return entry;
  }

  // Launches that changed and nothing else of which differs.
  void mark_changed(std::vector<Entry>& entries) const {
    std::set<Key> different;
    for (const Entry& entry : entries) {
      if (is_difference(entry.verdict)) different.insert(entry.key);
    }
    for (Entry& entry : entries) {
      const MovedLaunch* moved = moved_launch(entry.key);
      if (moved == nullptr || !moved->is_in_all || different.contains(entry.key)) continue;
      if (is_duration(entry.metric) && is_launched_differently(entry)) {
        entry.verdict = Verdict::Changed;
      }
    }
  }

  // By what both sides know of it.
  bool is_launched_differently(const Entry& entry) const {
    const auto known = [&](const std::vector<Key>& launches) {
      std::set<std::pair<std::string_view, std::string_view>> ways;
      for (const Key& launch : launches) {
        ways.emplace(launch.scope,
                     entry.is_shared_known ? launch.config : without_shared(launch.config));
      }
      return ways;
    };
    return known(entry.launches_a) != known(entry.launches_b);
  }

  double impact_of(const Pair& pair, const Entry& entry) const {
    if (pair.key.subject == Subject::Total || pair.metric == Metric::Busy) {
      return is_duration(pair.metric) ? entry.b - entry.a : 0;
    }
    const double count_a = mean_of(a_.repeats, pair.key, Metric::Count);
    const double count_b = mean_of(b_.repeats, pair.key, Metric::Count);
    if (is_duration(pair.metric)) return (entry.b - entry.a) * std::min(count_a, count_b);
    // What more or fewer of them cost, at what each costs on the side that has more.
    const Group& more = count_b > count_a ? b_ : a_;
    const double total = mean_of(more.repeats, pair.key, Metric::Total);
    return total * (count_b - count_a) / std::max(count_a, count_b);
  }

  bool matters(const Pair& pair, const Change& change) const {
    return !pair.is_constant() && std::abs(change.estimate) >= options_.min_change;
  }

  bool is_beyond_noise(const Pair& pair, const Change& change) const {
    return comparison_.proof != Proof::None && matters(pair, change) &&
           (change.is_increase() || change.is_decrease());
  }

  bool differs(const Pair& pair, const Change& change, double rounding) const {
    if (comparison_.proof == Proof::None) {
      return matters(pair, change) && differs_at_sight(pair, change, rounding);
    }
    return is_beyond_noise(pair, change) &&
           (comparison_.proof != Proof::Parts || exceeds_drift(pair, change));
  }

  // Without a proof nothing is said to be the same either.
  bool is_told(const Pair& pair, const Change& change) const {
    if (comparison_.proof == Proof::None || pair.is_constant()) return true;
    const double limit = std::max(kTellable, options_.min_change);
    return change.low > -limit && change.high < limit;
  }

  // No repeat of one side is as large as any of the other, and by more than runs of the same
  // program may differ.
  static bool differs_at_sight(const Pair& pair, const Change& change, double rounding) {
    const auto [a_low, a_high] = std::minmax_element(pair.a.begin(), pair.a.end());
    const auto [b_low, b_high] = std::minmax_element(pair.b.begin(), pair.b.end());
    const double gap = std::max(*a_low - *b_high, *b_low - *a_high);
    if (gap <= rounding) return false;
    return !is_duration(pair.metric) || std::abs(change.estimate) >= kRunToRun;
  }

  // Parts of one session follow each other, so a slow drift is in all of them: it shows within each
  // half as well.
  static bool exceeds_drift(const Pair& pair, const Change& change) {
    double drift = 0;
    for (const std::vector<double>* half : {&pair.a, &pair.b}) {
      const std::span<const double> parts(*half);
      const size_t middle = parts.size() / 2;
      const Change quarters = change_between(parts.first(middle), parts.subspan(middle), {});
      drift = std::max(drift, std::abs(std::log1p(quarters.estimate)));
    }
    return std::abs(std::log1p(change.estimate)) > kDriftFactor * drift;
  }

  static Verdict verdict_of(const Pair& pair, const Entry& entry) {
    const bool is_more = entry.change.estimate > 0;
    if (is_duration(pair.metric)) return is_more ? Verdict::Slower : Verdict::Faster;
    const auto is_absent = [&](double count) { return count == pair.absent; };
    if (std::all_of(pair.a.begin(), pair.a.end(), is_absent)) return Verdict::Appeared;
    if (std::all_of(pair.b.begin(), pair.b.end(), is_absent)) return Verdict::Vanished;
    return is_more ? Verdict::More : Verdict::Fewer;
  }

  const Group& a_;
  const Group& b_;
  const CompareOptions& options_;
  bool is_budgeted_;
  std::map<Key, const MovedLaunch*> moved_;
  std::vector<Pair> pairs_;
  Comparison comparison_;
};

// Of all repeats.
std::vector<WarpFigures> captures_of(const Group& group) {
  std::vector<WarpFigures> all;
  for (const Repeat& repeat : group.repeats) {
    all.insert(all.end(), repeat.warps.begin(), repeat.warps.end());
  }
  return all;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::Slower: return "slower";
    case Verdict::Faster: return "faster";
    case Verdict::More: return "more";
    case Verdict::Fewer: return "fewer";
    case Verdict::Changed: return "changed";
    case Verdict::Appeared: return "appeared";
    case Verdict::Vanished: return "vanished";
    case Verdict::Untold: return "too noisy";
    case Verdict::Drifts: return "drifts";
    case Verdict::Same: break;
  }
  return "same";
}

bool is_difference(Verdict verdict) {
  return verdict != Verdict::Same && verdict != Verdict::Untold && verdict != Verdict::Drifts;
}

bool Comparison::has_difference() const {
  return !findings.empty() || std::any_of(totals.begin(), totals.end(), [](const Entry& entry) {
    return is_difference(entry.verdict);
  });
}

std::vector<double> values_of(std::span<const Repeat> repeats, const Key& key, Metric metric) {
  std::vector<double> values;
  for (const Repeat& repeat : repeats) {
    const double value = value_or_zero(repeat, key, metric);
    if (value > 0) values.push_back(value);
  }
  return values;
}

double rounding_of(Subject subject, Metric metric,
                   const std::optional<IterationNumbers>& per_iteration) {
  if (metric == Metric::Count && per_iteration) {
    // What happens every few iterations is there once more or less by where they begin and end.
    return 2.0 / static_cast<double>(std::min(per_iteration->a.low, per_iteration->b.low));
  }
  const bool is_single_value =
      metric == Metric::Median || metric == Metric::P90 || metric == Metric::P99;
  return is_of_gpu_clock(subject) && is_single_value ? kClockStepNs : 0;
}

Comparison compare(const Group& a, const Group& b, const CompareOptions& options) {
  const std::optional<IterationNumbers> per_iteration = different_iterations(a, b);
  Group before = per_iteration ? for_one_iteration(a) : a;
  Group after = per_iteration ? for_one_iteration(b) : b;
  if (!have_scopes_in_common(before, after)) {
    for (Group* group : {&before, &after}) leave_scopes_out(*group);
  }
  const std::vector<MovedLaunch> moved = match_moved_launches(before, after);
  Comparison comparison = Comparer(before, after, moved, per_iteration, options).run();
  comparison.warps = warp_changes(captures_of(a), captures_of(b));
  return comparison;
}

}  // namespace gpufl::analysis::compare
