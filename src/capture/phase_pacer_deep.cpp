// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "capture/engine_ladder.hpp"
#include "capture/phase_pacer.hpp"

// What PhasePacer does for deep scopes and deep windows: both are phases that ask for all that can
// be had; a window also counts what they cover, and is bounded.
namespace gpufl::capture {

namespace {

using format::CoverageEnd;
using format::CoverageReason;

constexpr int64_t kUtilizationEvery_ns = 200'000'000;

// "permission_denied: this user ..." is "permission_denied".
std::string word_in_front(const std::string& message) {
  const size_t end = message.find_first_of(": ;");
  return end == std::string::npos ? message : message.substr(0, end);
}

}  // namespace

std::string_view PhasePacer::resting_engine() const {
  return parts_.windows.is_only() ? kTraceEngine : base_engine(parts_.engine);
}

// Where the engine is for windows only, a scope has nothing to lift but a budget.
bool PhasePacer::is_deep() const {
  const bool lifts = budget_ || !parts_.windows.is_only();
  return is_window_wanted_ || (lifts && parts_.deep.has_scopes());
}

CoverageReason PhasePacer::deep_reason() const {
  return is_window_wanted_ ? CoverageReason::DeepWindow : CoverageReason::DeepScope;
}

std::string_view PhasePacer::deep_engine(bool may_count_now) const {
  if (parts_.windows.is_only() && !is_window_wanted_) return kTraceEngine;
  return may_count_now ? counting_engine(parts_.engine) : base_engine(parts_.engine);
}

// The turn of counters goes on. Of a window it leaves half to samples, where both are wanted.
bool PhasePacer::keeps_counting(const Phase& phase, int64_t now_ns) const {
  if (!format::replaces_records(engine_)) return false;
  if (!is_counting()) return false;
  if (!is_window_wanted_) return true;
  const bool is_half_over = now_ns - phase.begin_ns >= parts_.windows.duration_ns() / 2;
  return !takes_samples(parts_.engine) || !is_half_over || launches() == 0;
}

void PhasePacer::begin_deep(const Phase& phase, int64_t now_ns) {
  const CoverageReason why = deep_reason();
  const bool is_of_window =
      why == CoverageReason::DeepWindow || phase.why == CoverageReason::DeepWindow;
  const CoverageEnd ending = is_of_window ? CoverageEnd::DeepWindow : CoverageEnd::DeepScope;
  const std::string_view wanted = deep_engine(may_count() && now_ns >= next_turn_ns_);
  if (engine_ != wanted && !keeps_counting(phase, now_ns)) {
    const auto stays = parts_.recording.cannot_detach();
    if (stays && why == CoverageReason::DeepWindow) return parts_.windows.fail(stays->reason);
    change_turns(why, wanted, is_of_window ? ending : CoverageEnd::Schedule);
  } else if (phase.why != why && (budget_ || is_of_window)) {
    begin_another(ending, {why, engine_});
  }
}

// What is sampled up to the end of a window's phase is of the window, also after it has closed.
void PhasePacer::set_demand(CoverageReason why) {
  parts_.deep.window.store(why == CoverageReason::DeepWindow, std::memory_order_relaxed);
}

// Nothing is detached: the phase is another from here on.
void PhasePacer::begin_another(CoverageEnd ending, const PhaseRequest& request) {
  set_demand(request.why);
  const auto ended = parts_.recording.begin_another(ending, request);
  if (!ended) return;
  note_ended(*ended);
  settle(*ended, false);
}

// The window has closed: on with what there was before it.
void PhasePacer::end_window_phase(const Phase& phase) {
  const bool is_only = parts_.windows.is_only();
  const CoverageReason why = is_only ? CoverageReason::Session : CoverageReason::Schedule;
  if (budget_) {
    detach(CoverageEnd::DeepWindow);
  } else if (engine_ != resting_engine()) {
    change_turns(why, resting_engine(), CoverageEnd::DeepWindow);
  } else if (phase.why == CoverageReason::DeepWindow) {
    begin_another(CoverageEnd::DeepWindow, {why, engine_});
  }
}

void PhasePacer::note_ended(const Phase& phase) {
  const bool is_known = phase.begin_ns == noted_phase_ns_;
  if (phase.why != CoverageReason::DeepWindow || is_known) return;
  noted_phase_ns_ = phase.begin_ns;
  parts_.windows.add(phase, std::exchange(phase_trouble_, {}).empty());
}

std::optional<DeepWindow> PhasePacer::end_window() {
  if (const auto last = parts_.recording.last_phase()) note_ended(*last);
  return parts_.windows.end_session(parts_.recording.session_now());
}

// What was recorded before goes on at once.
void PhasePacer::give_up_window(const base::Status& why) {
  parts_.windows.fail(word_in_front(why.message()));
  is_window_wanted_ = false;
  next_turn_engine_ = resting_engine();
  next_turn_ns_ = parts_.recording.session_now();
}

// Why the tracers that there are do not have what their engine adds to Trace; empty: they do, or do
// not know yet.
std::string PhasePacer::engine_trouble() const {
  for (const NamedTraceStatus& one : parts_.recording.traces()) {
    const std::string& counting = one.status.counting;
    if (!counting.empty() && counting != "counting" && counting != "counted") return counting;
    if (!one.status.sampling) continue;
    const std::string& sampling = one.status.sampling->state;
    if (!sampling.empty() && sampling != "sampling" && sampling != "ended") return sampling;
  }
  return {};
}

void PhasePacer::look_at_windows(int64_t now_ns) {
  parts_.windows.watch(now_ns, watched_value(now_ns));
  const auto phase = parts_.recording.phase();
  if (phase && phase->why == CoverageReason::DeepWindow) {
    see_window_phase(*phase, now_ns);
  } else {
    parts_.windows.see_no_phase(now_ns);
  }
  is_window_wanted_ = parts_.windows.is_wanted();
  is_window_counted_ =
      is_window_wanted_ && (is_window_counted_ || format::replaces_records(engine_));
  if (!is_window_wanted_ || is_window_counted_ || !has_counted_) return;
  if (!counting_engine(parts_.engine).empty()) {
    parts_.windows.limit(why_not_counted_.empty() ? "counted_before" : why_not_counted_);
  }
}

void PhasePacer::see_window_phase(const Phase& phase, int64_t now_ns) {
  const uint64_t counted = std::max(launches(), phase.launch_calls_before);
  parts_.windows.see_phase(phase.begin_ns, now_ns, counted - phase.launch_calls_before);
  phase_trouble_ = engine_trouble();
  if (!phase_trouble_.empty()) parts_.windows.limit(phase_trouble_);
}

std::optional<double> PhasePacer::watched_value(int64_t now_ns) {
  const auto& when = parts_.windows.options().when;
  if (!when) return std::nullopt;
  if (when->metric == DeepMetric::KernelLaunchRate) {
    // What is recorded differently, or not at all, tells no rate.
    if (!parts_.recording.phase()) return std::nullopt;
    return launch_rate_.add(now_ns, launches());
  }
  if (parts_.gpu_utilization && now_ns - gpu_utilization_at_ns_ >= kUtilizationEvery_ns) {
    gpu_utilization_ = parts_.gpu_utilization();
    gpu_utilization_at_ns_ = now_ns;
  }
  return gpu_utilization_;
}

// Where a phase of a window is under way still, the window has not come to its end.
void PhasePacer::post_windows() {
  const auto phase = parts_.recording.phase();
  const bool is_under_way = phase && phase->why == CoverageReason::DeepWindow;
  if (!is_under_way) {
    const auto closed = parts_.windows.take_closed(parts_.recording.session_now());
    if (closed) parts_.collector.post_deep_window(*closed);
  }
  post_window_events();
}

void PhasePacer::post_window_events() {
  for (const base::Json& event : parts_.windows.take_events()) parts_.collector.post_event(event);
}

}  // namespace gpufl::capture
