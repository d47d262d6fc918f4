// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/rules.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/insights/find_insights.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

constexpr Rule kRules[] = {
    {"sync_attribution", Category::Synchronization, find_sync_attribution, nullptr, true},
    {"in_loop_sync", Category::Synchronization, find_in_loop_sync},
    {"idle_gaps", Category::Launch, find_idle_gaps},
    {"launch_bound", Category::Launch, find_launch_bound},
    {"tiny_kernels", Category::Launch, find_tiny_kernels},
    {"pageable_copies", Category::Transfer, find_pageable_copies},
    {"small_copies", Category::Transfer, find_small_copies},
    {"unoverlapped_copies", Category::Transfer, find_unoverlapped_copies},
    {"exposed_communication", Category::Transfer, find_exposed_communication},
    {"allocation_in_loop", Category::Memory, find_allocation_in_loop},
    {"register_spill", Category::Memory, find_register_spill},
    {"memory_nearly_full", Category::Memory, find_memory_nearly_full},
    {"uncoalesced_access", Category::Memory, find_uncoalesced_access},
    {"bank_conflicts", Category::Memory, find_bank_conflicts},
    {"low_occupancy", Category::Occupancy, find_low_occupancy},
    {"tail_effect", Category::Occupancy, find_tail_effect},
    {"partial_wave", Category::Occupancy, find_partial_wave},
    {"warp_stalls", Category::Compute, find_warp_stalls},
    {"warp_group_bound", Category::Compute, find_warp_group_bound},
    {"warp_bubbles", Category::Compute, find_warp_bubbles},
    {"thread_divergence", Category::Compute, find_thread_divergence},
    {"gpu_imbalance", Category::Compute, find_gpu_imbalance},
    {"rank_imbalance", Category::Compute, nullptr, find_rank_imbalance},
    {"throttling", Category::System, find_throttling},
    {"power_cap", Category::System, find_power_cap},
    {"clock_drop", Category::System, find_clock_drop},
    {"ecc_errors", Category::System, find_ecc_errors},
    {"xid_errors", Category::System, find_xid_errors},
    {"failed_calls", Category::System, find_failed_calls},
    {"trace_losses", Category::Trace, find_trace_losses},
};

// What is wrong, rather than slow: a failed call, an error of the GPU, a line that waits for most
// of the session.
bool is_alarm(const Insight& insight) {
  return insight.severity == Severity::High && !insight.gain_ns;
}

// Rules find what matters most first, so those of one rule that are alike stay in order.
bool comes_before(const Insight& a, const Insight& b) {
  if (is_alarm(a) != is_alarm(b)) return is_alarm(a);
  const double a_gain = a.gain_ns.value_or(0), b_gain = b.gain_ns.value_or(0);
  if (a_gain != b_gain) return a_gain > b_gain;
  if (a.severity != b.severity) return a.severity > b.severity;
  return a.rule < b.rule;
}

// Sorted ones, so that the first `shown` of them have the first of each category: what saves little
// is not to vanish behind many of another kind.
void keep_categories_in_view(std::vector<Insight>& sorted, size_t shown) {
  if (sorted.size() <= shown) return;
  std::set<Category> seen;
  std::vector<bool> is_shown;
  for (const Insight& insight : sorted) is_shown.push_back(seen.insert(insight.category).second);
  size_t others = shown - std::min(shown, seen.size());
  for (size_t i = 0; i < is_shown.size() && others > 0; ++i) {
    if (is_shown[i]) continue;
    is_shown[i] = true;
    --others;
  }
  std::vector<Insight> first, rest;
  for (size_t i = 0; i < sorted.size(); ++i) {
    (is_shown[i] ? first : rest).push_back(std::move(sorted[i]));
  }
  sorted = std::move(first);
  sorted.insert(sorted.end(), std::make_move_iterator(rest.begin()),
                std::make_move_iterator(rest.end()));
}

// `found` is what one rule has found: the most important of it.
void keep(const Rule& rule, const Thresholds& thresholds, std::vector<Insight>&& found,
          std::vector<Insight>& all) {
  for (Insight& insight : found) {
    insight.rule = rule.word;
    insight.category = rule.category;
  }
  std::stable_sort(found.begin(), found.end(), comes_before);
  const size_t most = max_per_rule(thresholds);
  if (!rule.folds_rest && found.size() > most) found.resize(most);
  all.insert(all.end(), std::make_move_iterator(found.begin()),
             std::make_move_iterator(found.end()));
}

}  // namespace

std::span<const Rule> rules() { return kRules; }

size_t max_per_rule(const Thresholds& thresholds) {
  return static_cast<size_t>(std::max(1.0, thresholds.insights.max_per_rule));
}

Severity severity_of(double share, const Thresholds& thresholds) {
  if (share > thresholds.insights.high_share) return Severity::High;
  return share > thresholds.insights.medium_share ? Severity::Medium : Severity::Low;
}

void set_gain(Insight& insight, double gain_ns, int64_t wall_ns, const Thresholds& thresholds) {
  const double wall = static_cast<double>(wall_ns);
  gain_ns = std::clamp(gain_ns, 0.0, wall);
  insight.gain_ns = gain_ns;
  insight.gain_share = gain_ns / wall;
  insight.severity = severity_of(insight.gain_share, thresholds);
}

std::string recording_text(const SessionView& view) {
  const double recording_ns = view.recording_ns_per_call();
  if (recording_ns <= 0) return {};
  const double vendor_ns = view.thresholds.insights.vendor_call_us * 1e3;
  const double measured_ns = recording_ns - vendor_ns;
  const std::string assumed = vendor_ns <= 0
                                  ? ""
                                  : fmt::format(" and {} assumed for the vendor's library",
                                                text::duration_beside(vendor_ns, measured_ns));
  return fmt::format(" The cost of recording is left out: {} per call as measured{}.",
                     text::duration_beside(measured_ns, vendor_ns), assumed);
}

Evidence at_site(const CodeSite& site, std::string text) {
  Evidence evidence;
  evidence.text = std::move(text);
  evidence.file = site.file;
  evidence.line = site.line;
  return evidence;
}

std::vector<Insight> find_insights(const SessionData& session, const Overview& overview,
                                   const Thresholds& thresholds) {
  const SessionView view(session, overview, thresholds);
  std::vector<Insight> all;
  for (const Rule& rule : kRules) {
    if (rule.of_session == nullptr) continue;
    std::vector<Insight> found;
    rule.of_session(view, found);
    for (Insight& insight : found) insight.gain_of = view.whole;
    keep(rule, thresholds, std::move(found), all);
  }
  std::stable_sort(all.begin(), all.end(), comes_before);
  keep_categories_in_view(all, overview.options.top);
  return all;
}

std::vector<Insight> find_run_insights(const RunOverview& run, const Thresholds& thresholds) {
  std::vector<Insight> all;
  for (const Rule& rule : kRules) {
    if (rule.of_run == nullptr) continue;
    std::vector<Insight> found;
    rule.of_run(run, thresholds, found);
    keep(rule, thresholds, std::move(found), all);
  }
  std::stable_sort(all.begin(), all.end(), comes_before);
  return all;
}

}  // namespace gpufl::analysis
