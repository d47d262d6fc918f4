// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/insights/insight.hpp"
#include "analysis/insights/session_view.hpp"
#include "analysis/overview/run_overview.hpp"

// The rules that find insights, and what they are made with. A rule is a word, a category, a page
// docs/reference/insights/<word>.md and a function that looks at a session, or at a run of several.
namespace gpufl::analysis {

struct Rule {
  std::string_view word;
  Category category;
  void (*of_session)(const SessionView& view, std::vector<Insight>& found) = nullptr;
  void (*of_run)(const RunOverview& run, const Thresholds& thresholds,
                 std::vector<Insight>& found) = nullptr;
  bool folds_rest = false;  // it keeps to max_per_rule() by itself, and tells what it leaves out
};
std::span<const Rule> rules();

// The most insights of one rule.
size_t max_per_rule(const Thresholds& thresholds);

// Sets what time doing something about it would save; none of it: nothing that can be told. The
// severity follows from its share of `wall_ns`.
void set_gain(Insight& insight, double gain_ns, int64_t wall_ns, const Thresholds& thresholds);
// " What recording took, 1.290 us of each call as measured and 1.000 us assumed for the vendor's
// library, is left out.": for estimates that do so, see SessionView::recording_ns_per_call(). Empty
// where that is not known.
std::string recording_text(const SessionView& view);
// A severity for what takes this share of the session's time, whatever could be saved of it.
Severity severity_of(double share, const Thresholds& thresholds);

// Evidence at a line of the program.
Evidence at_site(const CodeSite& site, std::string text);

// Each in the file of its family.
void find_sync_attribution(const SessionView& view, std::vector<Insight>& found);
void find_in_loop_sync(const SessionView& view, std::vector<Insight>& found);
void find_idle_gaps(const SessionView& view, std::vector<Insight>& found);
void find_launch_bound(const SessionView& view, std::vector<Insight>& found);
void find_tiny_kernels(const SessionView& view, std::vector<Insight>& found);
void find_pageable_copies(const SessionView& view, std::vector<Insight>& found);
void find_small_copies(const SessionView& view, std::vector<Insight>& found);
void find_unoverlapped_copies(const SessionView& view, std::vector<Insight>& found);
void find_allocation_in_loop(const SessionView& view, std::vector<Insight>& found);
void find_low_occupancy(const SessionView& view, std::vector<Insight>& found);
void find_register_spill(const SessionView& view, std::vector<Insight>& found);
void find_tail_effect(const SessionView& view, std::vector<Insight>& found);
void find_partial_wave(const SessionView& view, std::vector<Insight>& found);
void find_exposed_communication(const SessionView& view, std::vector<Insight>& found);
void find_warp_stalls(const SessionView& view, std::vector<Insight>& found);
void find_warp_group_bound(const SessionView& view, std::vector<Insight>& found);
void find_warp_bubbles(const SessionView& view, std::vector<Insight>& found);
void find_thread_divergence(const SessionView& view, std::vector<Insight>& found);
void find_uncoalesced_access(const SessionView& view, std::vector<Insight>& found);
void find_bank_conflicts(const SessionView& view, std::vector<Insight>& found);
void find_throttling(const SessionView& view, std::vector<Insight>& found);
void find_power_cap(const SessionView& view, std::vector<Insight>& found);
void find_clock_drop(const SessionView& view, std::vector<Insight>& found);
void find_memory_nearly_full(const SessionView& view, std::vector<Insight>& found);
void find_ecc_errors(const SessionView& view, std::vector<Insight>& found);
void find_xid_errors(const SessionView& view, std::vector<Insight>& found);
void find_gpu_imbalance(const SessionView& view, std::vector<Insight>& found);
void find_rank_imbalance(const RunOverview& run, const Thresholds& thresholds,
                         std::vector<Insight>& found);
void find_failed_calls(const SessionView& view, std::vector<Insight>& found);
void find_trace_losses(const SessionView& view, std::vector<Insight>& found);

}  // namespace gpufl::analysis
