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

base::Status busy() {
  return {base::Code::Unavailable, "busy: recording is just being turned on or off; try again"};
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%g%%", share * 100);
  return text;
}

}  // namespace

PhasePacer::PhasePacer(const Parts& parts) : parts_(parts), is_paused_(parts.begins_paused) {
  if (parts.budget > 0) budget_.emplace(parts.budget, parts.seed);
  engine_ = next_turn_engine_ = base_engine(parts.engine);
  if (const auto phase = parts.recording.phase()) {
    steps_.begin_phase(0, phase->begin_ns);
    if (counts_instructions(parts.engine)) next_turn_ns_ = phase->begin_ns + before_counting_ns();
  }
}

bool PhasePacer::start() {
  return thread_.start("gpufl-phases", [this] { run(); });
}

bool PhasePacer::stop() {
  {
    const std::lock_guard lock(stop_mutex_);
    stopping_ = true;
    stop_cv_.notify_all();
  }
  const bool has_ended = thread_.wait_for(parts_.patience);
  if (has_ended) thread_.join();
  const BoundedLock lock(mutex_, parts_.patience);
  if (lock) take_steps();
  return has_ended;
}

void PhasePacer::run() {
  while (!stopping_) {
    look();
    std::unique_lock lock(stop_mutex_);
    stop_cv_.wait_for(lock, kPace, [&] { return stopping_.load(); });
  }
}

void PhasePacer::look() {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  take_steps();
  if (awaited_) see_whether_attached();
  if (is_paused_ || awaited_) return;
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
  if (engine_ == kSassEngine) has_counted_ = true;  // or failed: it is not tried twice
  const bool is_long = now_ns - phase.begin_ns >= kLongestCounting_ns;
  const bool is_deep = parts_.deep_scopes.load(std::memory_order_relaxed) > 0;
  if (is_deep && (engine_ != kSassEngine || !is_long)) return begin_deep(phase, now_ns);
  if (budget_ && phase.why == CoverageReason::DeepScope) {
    detach(CoverageEnd::DeepScope);
  } else if (budget_) {
    if (is_phase_over(phase, now_ns)) detach(CoverageEnd::Budget);
  } else {
    const bool takes_any = takes_samples(parts_.engine) || may_count() || engine_ == kSassEngine;
    if (takes_any && is_turn_over(phase, now_ns)) {
      change_turns(CoverageReason::Schedule, next_engine());
    }
  }
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

// From one of the engines that take turns to another.
void PhasePacer::change_turns(CoverageReason why, std::string_view next) {
  turn_rest_ns_ = overlaps() ? kBetweenOverlappingTurns_ns : kBetweenTurns_ns;
  if (!detach(CoverageEnd::Schedule)) return;
  is_first_turn_ = false;
  begin_turn(why, next);
}

// Tried again soon where it fails: without a budget nothing is to be missing.
void PhasePacer::begin_turn(CoverageReason why, std::string_view engine) {
  wants_attached_ = true;
  next_turn_engine_ = engine;
  const bool is_attached = static_cast<bool>(attach(why, engine, parts_.patience / 2));
  if (is_attached || awaited_) return;
  next_turn_ns_ = parts_.recording.session_now() + kRetry_ns;
}

void PhasePacer::begin_deep(const Phase& phase, int64_t now_ns) {
  const bool counts = may_count() && now_ns >= next_turn_ns_;
  const std::string_view wanted = counts ? kSassEngine : base_engine(parts_.engine);
  if (wanted != kTraceEngine && engine_ != wanted && engine_ != kSassEngine) {
    change_turns(CoverageReason::DeepScope, wanted);
  } else if (budget_ && phase.why != CoverageReason::DeepScope) {
    const auto ended = parts_.recording.begin_another(CoverageEnd::DeepScope,
                                                      {CoverageReason::DeepScope, engine_});
    if (ended) settle(*ended, false);
  }
}

void PhasePacer::look_detached(int64_t now_ns) {
  const bool is_deep = parts_.deep_scopes.load(std::memory_order_relaxed) > 0;
  if (!budget_) {
    if (wants_attached_ && now_ns >= next_turn_ns_) {
      begin_turn(CoverageReason::Schedule, next_turn_engine_);
    }
  } else if (is_deep) {
    if (now_ns < next_turn_ns_) return;
    const std::string_view wanted = may_count() ? kSassEngine : base_engine(parts_.engine);
    if (!attach(CoverageReason::DeepScope, wanted, parts_.patience / 2)) {
      next_turn_ns_ = now_ns + kRetry_ns;
    }
  } else if (now_ns >= budget_->next_begin_ns()) {
    const std::string_view next = may_count() ? next_engine() : base_engine(parts_.engine);
    (void)attach(CoverageReason::Budget, next, parts_.patience / 2);
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
    if (status) counted_ = counted_cost(status->ledger, attached_ns, sampled_ns(status->traces));
    counted_at_ns_ = now_ns;
  }
  const auto slowdown = steps_.slowdown();
  return {phase.cost.switching_ns + counted_.switching_ns,
          slowdown ? step_cost_ns(*slowdown, attached_ns) : counted_.running_ns};
}

base::Status PhasePacer::attach(CoverageReason why, std::string_view engine,
                                std::chrono::milliseconds patience) {
  const int64_t asked_ns = parts_.recording.session_now();
  const base::Status attached = parts_.recording.resume({why, engine}, patience);
  if (attached) {
    on_attached({asked_ns, engine});
  } else if (parts_.recording.is_attaching()) {
    awaited_ = {asked_ns, engine};
  } else {
    on_refused(parts_.recording.session_now() - asked_ns);
  }
  return attached;
}

void PhasePacer::on_attached(const Awaited& awaited) {
  engine_ = awaited.engine;
  counted_ = {};
  counted_at_ns_ = 0;
  const int64_t now_ns = parts_.recording.session_now();
  next_turn_ns_ = engine_ == kTraceEngine ? now_ns + turn_rest_ns_ : now_ns;
  if (may_count()) next_turn_ns_ = now_ns + before_counting_ns();
  if (budget_) parts_.recording.add_pause_cost(budget_->end_pause(now_ns));
  if (const auto phase = parts_.recording.phase()) {
    // Steps under counters tell nothing of what the rest costs: they are on neither side.
    constexpr int64_t kNever_ns = std::numeric_limits<int64_t>::max();
    steps_.begin_phase(awaited.asked_ns,
                       phase->engine == kSassEngine ? kNever_ns : phase->begin_ns);
  }
}

void PhasePacer::on_refused(int64_t took_ns) {
  if (budget_) budget_->fail(parts_.recording.session_now(), took_ns);
}

void PhasePacer::see_whether_attached() {
  if (parts_.recording.is_attaching()) return;
  const Awaited awaited = *std::exchange(awaited_, std::nullopt);
  if (parts_.recording.phase()) return on_attached(awaited);
  on_refused(0);  // it held up nobody
  next_turn_ns_ = parts_.recording.session_now() + kRetry_ns;
}

bool PhasePacer::detach(CoverageEnd ending) {
  if (const auto why = parts_.recording.cannot_detach()) {
    stay_attached(*why);
    return false;
  }
  if (!parts_.recording.pause(ending, false, parts_.patience)) return false;
  on_detached();
  return true;
}

void PhasePacer::on_detached() {
  const auto phase = parts_.recording.last_phase();
  if (!phase) return;
  steps_.end_phase(phase->end_ns, parts_.recording.session_now());
  settle(*phase, parts_.recording.is_still_attached());
}

// The budget pays for what has ended, but not for deep scopes.
void PhasePacer::settle(const Phase& phase, bool is_attached) {
  if (!budget_) return;
  const int64_t now_ns = parts_.recording.session_now();
  if (phase.why == CoverageReason::DeepScope) {
    budget_->rest(now_ns);
  } else {
    budget_->spend(now_ns, phase.attached_ns(), phase.cost);
  }
  budget_->begin_pause(now_ns, is_attached);
}

bool PhasePacer::overlaps() const {
  for (const NamedTraceStatus& one : parts_.recording.traces()) {
    if (one.status.sampling && one.status.sampling->threads_overlap) return true;
  }
  return false;
}

uint64_t PhasePacer::launches() const {
  uint64_t launches = 0;
  for (const NamedTraceStatus& one : parts_.recording.traces()) launches += one.status.launches;
  return launches;
}

uint64_t PhasePacer::windows() const {
  uint64_t windows = 0;
  for (const NamedTraceStatus& one : parts_.recording.traces()) {
    if (!one.status.sampling) continue;
    windows += one.status.sampling->windows + one.status.sampling->windows_skipped;
  }
  return windows;
}

// For good: neither is the budget kept, nor do launches of several threads get their speed back
// while samples are taken.
void PhasePacer::stay_attached(const backend::Availability& why) {
  if (budget_) {
    tell_lacking("overhead_budget", percent(parts_.budget), "none", why);
    parts_.recording.set_slowdown(std::nullopt);
    budget_.reset();
  }
  next_turn_ns_ = std::numeric_limits<int64_t>::max();
  const auto phase = parts_.recording.phase();
  if (!phase || phase->engine == kTraceEngine) return;
  const bool counts = phase->engine == kSassEngine;
  if (parts_.recording.end_sampling()) {
    base::Json line = base::Json::object();
    line.set("name", counts ? "counting_ended" : "sampling_ended")
        .set("text", why.detail)
        .set("hint", why.hint);
    parts_.collector.post_event(line.set("reason", why.reason));
    tell_lacking("profiling_engine", std::string(phase->engine),
                 std::string(counts ? kMonitorEngine : kTraceEngine), why);
  }
  if (counts) return;  // what counted makes no records
  const bool is_trace =
      parts_.recording.begin_another(CoverageEnd::Failure, {phase->why, kTraceEngine}).has_value();
  if (is_trace) engine_ = kTraceEngine;
}

void PhasePacer::tell_lacking(const char* feature, std::string asked, std::string got,
                              const backend::Availability& why) {
  const format::Capability note{feature,    std::move(asked), std::move(got),
                                why.reason, why.detail,       why.hint};
  parts_.collector.post(format::Kind::Capability, note.to_json());
}

base::Status PhasePacer::resume() {
  const BoundedLock lock(mutex_, parts_.patience);
  if (!lock) return busy();
  if (!parts_.recording.phase()) {
    base::Status attached =
        attach(CoverageReason::Request, base_engine(parts_.engine), parts_.patience);
    if (awaited_) is_paused_ = false;
    if (!attached) return attached;
  }
  is_paused_ = false;
  return base::Status::ok();
}

base::Status PhasePacer::pause() {
  const BoundedLock lock(mutex_, parts_.patience);
  if (!lock) return busy();
  const bool was_attached = parts_.recording.phase().has_value();
  base::Status paused = parts_.recording.pause(CoverageEnd::Request, true, parts_.patience);
  if (!paused) return paused;
  is_paused_ = true;
  wants_attached_ = false;
  awaited_.reset();
  if (was_attached) on_detached();
  return base::Status::ok();
}

}  // namespace gpufl::capture
