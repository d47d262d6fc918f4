// SPDX-License-Identifier: Apache-2.0
#include "capture/phase_pacer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "capture/engine_ladder.hpp"
#include "format/capability.hpp"

namespace gpufl::capture {

namespace {

using format::CoverageEnd;
using format::CoverageReason;
using namespace std::chrono_literals;

constexpr auto kPace = 20ms;
constexpr int64_t kCountEvery_ns = 100'000'000;
constexpr auto kCollectorPatience = 100ms;
constexpr int64_t kRetry_ns = 10'000'000'000;

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%g%%", share * 100);
  return text;
}

}  // namespace

PhasePacer::PhasePacer(const Parts& parts) : parts_(parts), is_paused_(parts.begins_paused) {
  if (parts.budget > 0) budget_.emplace(parts.budget);
  engine_ = base_engine(parts.engine);
  if (const auto phase = parts.recording.phase()) {
    steps_.begin_phase(0, phase->begin_ns);
    if (counts_instructions(parts.engine)) next_turn_ns_ = phase->begin_ns + before_counting_ns();
  }
}

bool PhasePacer::start() {
  return thread_.start("gpufl-phases", [this] { run(); });
}

void PhasePacer::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
    cv_.notify_all();
  }
  thread_.join();
  take_steps();
}

void PhasePacer::run() {
  while (true) {
    look();
    std::unique_lock lock(mutex_);
    if (cv_.wait_for(lock, kPace, [&] { return stopping_; })) return;
  }
}

void PhasePacer::look() {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  take_steps();
  if (is_paused_) return;
  const int64_t now_ns = parts_.recording.session_now();
  if (const auto phase = parts_.recording.phase()) {
    look_attached(*phase, now_ns);
  } else {
    look_detached(now_ns);
  }
}

void PhasePacer::take_steps() {
  const std::vector<Step> taken = parts_.collector.take_steps();
  for (const Step& step : taken) steps_.add(step);
  if (budget_ && !taken.empty()) parts_.recording.set_slowdown(steps_.slowdown());
}

void PhasePacer::look_attached(const Phase& phase, int64_t now_ns) {
  look_at_counting();
  const bool is_deep = parts_.deep_scopes.load(std::memory_order_relaxed) > 0;
  const bool is_long = now_ns - phase.begin_ns >= kLongestCounting_ns;
  if (is_deep && (engine_ != kSassEngine || !is_long)) return begin_deep(phase, now_ns);
  if (is_deep_ && budget_) {
    detach(CoverageEnd::DeepScope);
  } else if (budget_) {
    if (is_phase_over(phase, now_ns)) detach(CoverageEnd::Budget);
  } else {
    const bool takes_any = takes_samples(parts_.engine) || may_count() || engine_ == kSassEngine;
    if (takes_any && is_turn_over(phase, now_ns)) take_turns(now_ns);
  }
}

// Counting is not tried twice, whether it has worked or not.
void PhasePacer::look_at_counting() {
  if (engine_ == kSassEngine) has_counted_ = true;
}

bool PhasePacer::may_count() const { return counts_instructions(parts_.engine) && !has_counted_; }

bool PhasePacer::is_counting() const {
  const auto traces = parts_.recording.traces();
  return std::any_of(traces.begin(), traces.end(),
                     [](const NamedTraceStatus& one) { return one.status.counting == "counting"; });
}

std::string_view PhasePacer::next_engine() const {
  if (engine_ == kSassEngine) return base_engine(parts_.engine);
  if (may_count()) return kSassEngine;
  return engine_ == kSamplingEngine ? kTraceEngine : base_engine(parts_.engine);
}

int64_t PhasePacer::before_counting_ns() const {
  return takes_samples(parts_.engine) ? kSampledBeforeCounting_ns : kBeforeCounting_ns;
}

void PhasePacer::take_turns(int64_t now_ns) {
  const int64_t rest_ns = overlaps() ? kBetweenOverlappingTurns_ns : kBetweenTurns_ns;
  if (!detach(CoverageEnd::Schedule)) return;
  wants_attached_ = true;
  is_first_turn_ = false;
  const std::string_view next = next_engine();
  next_turn_ns_ = now_ns + (next == kTraceEngine ? rest_ns : 0);
  (void)attach(CoverageReason::Schedule, next);
}

void PhasePacer::begin_deep(const Phase& phase, int64_t now_ns) {
  const bool counts = may_count() && now_ns >= next_turn_ns_;
  const std::string_view wanted = counts ? kSassEngine : base_engine(parts_.engine);
  if (wanted != kTraceEngine && engine_ != wanted && engine_ != kSassEngine) {
    if (!detach(CoverageEnd::Schedule)) return;
    wants_attached_ = true;
    is_deep_ = static_cast<bool>(attach(CoverageReason::DeepScope, wanted));
  } else if (budget_ && !std::exchange(is_deep_, true)) {
    before_deep_ = {now_ns - phase.begin_ns, cost_so_far(phase, now_ns)};
  }
}

void PhasePacer::look_detached(int64_t now_ns) {
  const bool is_deep = parts_.deep_scopes.load(std::memory_order_relaxed) > 0;
  if (is_deep && budget_) {
    if (now_ns < next_turn_ns_) return;
    const std::string_view wanted = may_count() ? kSassEngine : base_engine(parts_.engine);
    is_deep_ = static_cast<bool>(attach(CoverageReason::DeepScope, wanted));
    if (!is_deep_) next_turn_ns_ = now_ns + kRetry_ns;
  } else if (budget_ && now_ns >= budget_->next_begin_ns()) {
    (void)attach(CoverageReason::Budget, may_count() ? next_engine() : base_engine(parts_.engine));
  } else if (!budget_ && wants_attached_ && now_ns >= next_turn_ns_) {
    const std::string_view again = base_engine(parts_.engine);
    if (!attach(CoverageReason::Schedule, again)) next_turn_ns_ = now_ns + kRetry_ns;
  }
}

bool PhasePacer::is_phase_over(const Phase& phase, int64_t now_ns) {
  const int64_t attached_ns = now_ns - phase.begin_ns;
  // Attaching for samples is dear: it was for nothing if there is no window at all.
  const bool awaits_window = phase.engine == kSamplingEngine && windows() == 0;
  if (awaits_window && attached_ns < OverheadBudget::kFirst_ns) return false;
  if (phase.engine == kSassEngine && is_counting_over(phase, now_ns)) return true;
  return budget_->is_over(now_ns, attached_ns, cost_so_far(phase, now_ns));
}

bool PhasePacer::is_counting_over(const Phase& phase, int64_t now_ns) const {
  return !is_counting() || (now_ns - phase.begin_ns >= kCountingTurn_ns && launches() != 0);
}

bool PhasePacer::is_turn_over(const Phase& phase, int64_t now_ns) {
  if (engine_ == kSassEngine) return is_counting_over(phase, now_ns);
  if (may_count()) {
    if (launches() == 0) next_turn_ns_ = now_ns + before_counting_ns();
    return now_ns >= next_turn_ns_;
  }
  if (engine_ != kSamplingEngine) return now_ns >= next_turn_ns_;
  const bool is_long = is_first_turn_ && !overlaps();
  return windows() >= (is_long ? kWindowsInFirstTurn : kWindowsInTurn);
}

PhaseCost PhasePacer::cost_so_far(const Phase& phase, int64_t now_ns) {
  const int64_t attached_ns = now_ns - phase.begin_ns;
  if (phase.engine == kSassEngine) return {phase.cost.switching_ns, attached_ns};
  if (now_ns - counted_at_ns_ >= kCountEvery_ns) {
    const auto status = parts_.collector.status(kCollectorPatience);
    int64_t windows_ns = 0;
    for (const NamedTraceStatus& one : parts_.recording.traces()) {
      if (one.status.sampling) windows_ns += one.status.sampling->busy_ns;
    }
    if (status) counted_ = counted_cost(status->ledger, attached_ns, windows_ns);
    counted_at_ns_ = now_ns;
  }
  const auto slowdown = steps_.slowdown();
  return {phase.cost.switching_ns + counted_.switching_ns,
          slowdown ? step_cost_ns(*slowdown, attached_ns) : counted_.running_ns};
}

base::Status PhasePacer::attach(CoverageReason why, std::string_view engine) {
  const int64_t asked_ns = parts_.recording.session_now();
  const base::Status attached = parts_.recording.resume({why, engine});
  const int64_t now_ns = parts_.recording.session_now();
  if (!attached) {
    if (budget_) budget_->fail(now_ns, now_ns - asked_ns);
    return attached;
  }
  engine_ = engine;
  counted_ = {};
  counted_at_ns_ = 0;
  // Steps under counters tell nothing of what the rest costs: they are on neither side.
  constexpr int64_t kNever_ns = std::numeric_limits<int64_t>::max();
  if (const auto phase = parts_.recording.phase()) {
    steps_.begin_phase(asked_ns, phase->engine == kSassEngine ? kNever_ns : phase->begin_ns);
  }
  return attached;
}

bool PhasePacer::detach(CoverageEnd ending) {
  if (const auto why = parts_.recording.cannot_detach()) {
    if (budget_) give_up_budget(*why);
    return false;
  }
  if (!parts_.recording.pause(ending, false)) return false;
  const auto phase = parts_.recording.last_phase();
  if (!phase) return true;
  steps_.end_phase(phase->end_ns, parts_.recording.session_now());
  settle(*phase);
  return true;
}

// The budget pays for what has ended, but not for deep scopes.
void PhasePacer::settle(const Phase& phase) {
  const bool was_deep = std::exchange(is_deep_, false);
  const auto before_deep = std::exchange(before_deep_, std::nullopt);
  if (!budget_) return;
  const int64_t now_ns = parts_.recording.session_now();
  if (before_deep) {
    budget_->spend(now_ns, before_deep->attached_ns, before_deep->cost);
  } else if (was_deep || phase.why == CoverageReason::DeepScope) {
    budget_->rest(now_ns);
  } else {
    budget_->spend(now_ns, phase.attached_ns(), phase.cost);
  }
}

bool PhasePacer::overlaps() const {
  for (const NamedTraceStatus& one : parts_.recording.traces()) {
    if (one.status.sampling && one.status.sampling->threads_overlap) return true;
  }
  return false;
}

uint64_t PhasePacer::windows() const {
  uint64_t windows = 0;
  for (const NamedTraceStatus& one : parts_.recording.traces()) {
    if (!one.status.sampling) continue;
    windows += one.status.sampling->windows + one.status.sampling->windows_skipped;
  }
  return windows;
}

uint64_t PhasePacer::launches() const {
  uint64_t launches = 0;
  for (const NamedTraceStatus& one : parts_.recording.traces()) launches += one.status.launches;
  return launches;
}

void PhasePacer::give_up_budget(const backend::Availability& why) {
  const format::Capability note{
      "overhead_budget", percent(parts_.budget), "none", why.reason, why.detail, why.hint};
  parts_.collector.post(format::Kind::Capability, note.to_json());
  parts_.recording.set_slowdown(std::nullopt);
  budget_.reset();
}

base::Status PhasePacer::resume() {
  const std::lock_guard lock(mutex_);
  if (!parts_.recording.phase()) {
    if (base::Status attached = attach(CoverageReason::Request, base_engine(parts_.engine));
        !attached)
      return attached;
  }
  is_paused_ = false;
  return base::Status::ok();
}

base::Status PhasePacer::pause() {
  const std::lock_guard lock(mutex_);
  const bool was_attached = parts_.recording.phase().has_value();
  if (base::Status paused = parts_.recording.pause(CoverageEnd::Request); !paused) return paused;
  is_paused_ = true;
  wants_attached_ = false;
  const auto phase = parts_.recording.last_phase();
  if (!was_attached || !phase) return base::Status::ok();
  steps_.end_phase(phase->end_ns, parts_.recording.session_now());
  settle(*phase);
  return base::Status::ok();
}

}  // namespace gpufl::capture
