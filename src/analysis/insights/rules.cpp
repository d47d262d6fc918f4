// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/rules.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/insights/find_insights.hpp"

namespace gpufl::analysis {
namespace {

constexpr Rule kRules[] = {
    {"sync_attribution", Category::Synchronization, find_sync_attribution},
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

bool comes_before(const Insight& a, const Insight& b) {
  const double a_gain = a.gain_ns.value_or(0), b_gain = b.gain_ns.value_or(0);
  if (a_gain != b_gain) return a_gain > b_gain;
  if (a.severity != b.severity) return a.severity > b.severity;
  return std::tie(a.rule, a.title) < std::tie(b.rule, b.title);
}

// `found` is what one rule has found: the most important of it.
void keep(const Rule& rule, const Thresholds& thresholds, std::vector<Insight>&& found,
          std::vector<Insight>& all) {
  for (Insight& insight : found) {
    insight.rule = rule.word;
    insight.category = rule.category;
  }
  std::stable_sort(found.begin(), found.end(), comes_before);
  const auto most = static_cast<size_t>(std::max(1.0, thresholds.insights.max_per_rule));
  if (found.size() > most) found.resize(most);
  all.insert(all.end(), std::make_move_iterator(found.begin()),
             std::make_move_iterator(found.end()));
}

}  // namespace

std::span<const Rule> rules() { return kRules; }

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
    keep(rule, thresholds, std::move(found), all);
  }
  std::stable_sort(all.begin(), all.end(), comes_before);
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
