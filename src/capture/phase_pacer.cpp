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
  engine_ = next_turn_engine_ = resting_engine();
  if (is_paused_) parts_.windows.refuse(DeepWindows::Refusal::Paused);
  if (const auto phase = parts.recording.phase()) {
    steps_.begin_phase(0, phase->begin_ns);
    if (format::replaces_records(phase->engine)) {
      engine_ = phase->engine;
    } else if (may_count()) {
      next_turn_ns_ = phase->begin_ns + before_counting_ns();
    }
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
  if (!lock) return has_ended;
  take_steps();
  post_windows();
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
  const int64_t now_ns = parts_.recording.session_now();
  look_at_windows(now_ns);
  post_window_events();
  if (!is_paused_ && !awaited_) {
    if (const auto phase = parts_.recording.phase()) {
      look_attached(*phase, now_ns);
    } else {
      look_detached(now_ns);
    }
  }
  post_windows();
}

void PhasePacer::take_steps() {
  const std::vector<Step> taken = parts_.collector.take_steps();
  for (const Step& step : taken) steps_.add(step);
  if (budget_ && !taken.empty()) parts_.recording.set_slowdown(steps_.slowdown());
}

void PhasePacer::look_attached(const Phase& phase, int64_t now_ns) {
  const bool counts = format::replaces_records(engine_);
  if (counts && !std::exchange(has_counted_, true)) {  // or failed: not tried twice
    why_not_counted_ = engine_trouble();
  }
  const bool is_long = now_ns - phase.begin_ns >= kLongestCounting_ns;
  if (is_deep() && (!counts || !is_long)) return begin_deep(phase, now_ns);
  if (phase.why == CoverageReason::DeepWindow) {
    end_window_phase(phase);
  } else if (budget_ && phase.why == CoverageReason::DeepScope) {
    detach(CoverageEnd::DeepScope);
  } else if (budget_) {
    if (is_phase_over(phase, now_ns)) detach(CoverageEnd::Budget);
  } else if (parts_.windows.is_only()) {
    wait_for_launches(now_ns);
  } else {
    const bool takes_any = takes_samples(parts_.engine) || may_count() || counts;
    if (takes_any && is_turn_over(phase, now_ns)) {
      change_turns(CoverageReason::Schedule, next_engine());
    }
  }
}

// A kernel that was not launched before counters are attached is not counted.
void PhasePacer::wait_for_launches(int64_t now_ns) {
  if (may_count() && launches() == 0) next_turn_ns_ = now_ns + before_counting_ns();
}

bool PhasePacer::may_count() const {
  return !counting_engine(parts_.engine).empty() && !has_counted_;
}

bool PhasePacer::is_counting() const {
  const auto traces = parts_.recording.traces();
  return std::any_of(traces.begin(), traces.end(), [](const NamedTraceStatus& one) {
    return one.status.counting == "counting" || one.status.state == "waiting_for_cuda";
  });
}

std::string_view PhasePacer::next_engine() const {
  if (format::replaces_records(engine_)) return base_engine(parts_.engine);
  if (may_count()) return counting_engine(parts_.engine);
  return engine_ == kSamplingEngine ? kTraceEngine : base_engine(parts_.engine);
}

int64_t PhasePacer::before_counting_ns() const {
  return takes_samples(parts_.engine) ? kSampledBeforeCounting_ns : kBeforeCounting_ns;
}

// From one of the engines that take turns to another.
void PhasePacer::change_turns(CoverageReason why, std::string_view next, CoverageEnd ending) {
  const bool is_for_nothing = engine_ == kSamplingEngine && windows().taken == 0;
  turn_rest_ns_ = is_for_nothing || overlaps() ? kBetweenOverlappingTurns_ns : kBetweenTurns_ns;
  if (!detach(ending)) return;
  is_first_turn_ = false;
  begin_turn(why, next);
}

// Tried again soon where it fails: without a budget nothing is to be missing.
void PhasePacer::begin_turn(CoverageReason why, std::string_view engine) {
  wants_attached_ = true;
  next_turn_engine_ = engine;
  const base::Status attached = attach(why, engine, parts_.patience / 2);
  if (attached || awaited_) return;
  next_turn_ns_ = parts_.recording.session_now() + kRetry_ns;
  if (why == CoverageReason::DeepWindow) give_up_window(attached);
}

void PhasePacer::look_detached(int64_t now_ns) {
  if (is_window_wanted_) {
    begin_turn(CoverageReason::DeepWindow, deep_engine(may_count()));
  } else if (!budget_) {
    if (wants_attached_ && now_ns >= next_turn_ns_) {
      const bool is_only = parts_.windows.is_only();
      begin_turn(is_only ? CoverageReason::Session : CoverageReason::Schedule, next_turn_engine_);
    }
  } else if (is_deep()) {
    if (now_ns < next_turn_ns_) return;
    if (!attach(CoverageReason::DeepScope, deep_engine(may_count()), parts_.patience / 2)) {
      next_turn_ns_ = now_ns + kRetry_ns;
    }
  } else if (now_ns >= budget_->next_begin_ns()) {
    const bool takes_turns = may_count() && !parts_.windows.is_only();
    (void)attach(CoverageReason::Budget, takes_turns ? next_engine() : resting_engine(),
                 parts_.patience / 2);
  }
}

bool PhasePacer::is_phase_over(const Phase& phase, int64_t now_ns) {
  const int64_t attached_ns = now_ns - phase.begin_ns;
  // Attaching for samples is dear: it was for nothing if there is no window at all.
  const bool awaits_window = phase.engine == kSamplingEngine && windows().taken == 0;
  if (awaits_window && attached_ns < OverheadBudget::kFirst_ns) return false;
  if (format::replaces_records(phase.engine) && is_counting_over(phase, now_ns)) return true;
  return budget_->is_over(now_ns, attached_ns, cost_so_far(phase, now_ns));
}

bool PhasePacer::is_counting_over(const Phase& phase, int64_t now_ns) const {
  const int64_t longest_ns = phase.engine == kSassEngine ? kCountingTurn_ns : kLongestCounting_ns;
  return !is_counting() || (now_ns - phase.begin_ns >= longest_ns && launches() != 0);
}

bool PhasePacer::is_turn_over(const Phase& phase, int64_t now_ns) {
  if (format::replaces_records(engine_)) return is_counting_over(phase, now_ns);
  if (may_count()) {
    if (launches() == 0) next_turn_ns_ = now_ns + before_counting_ns();
    return now_ns >= next_turn_ns_;
  }
  if (engine_ != kSamplingEngine) return now_ns >= next_turn_ns_;
  const bool is_long = is_first_turn_ && !overlaps();
  return windows().in_turn() >= (is_long ? kWindowsInFirstTurn : kWindowsInTurn);
}

PhaseCost PhasePacer::cost_so_far(const Phase& phase, int64_t now_ns) {
  const int64_t attached_ns = now_ns - phase.begin_ns;
  if (format::replaces_records(phase.engine)) return {phase.cost.switching_ns, attached_ns};
  if (now_ns - counted_at_ns_ >= kCountEvery_ns) {
    const auto status = parts_.collector.status(kCollectorPatience);
    if (status) sampled_ = sampled_time(status->traces);
    if (status) counted_ = counted_cost(status->ledger, attached_ns, sampled_.total_ns);
    counted_at_ns_ = now_ns;
  }
  const auto slowdown = steps_.slowdown();
  return {phase.cost.switching_ns + counted_.switching_ns,
          slowdown ? step_cost_ns(*slowdown, attached_ns, sampled_) : counted_.running_ns};
}

base::Status PhasePacer::attach(CoverageReason why, std::string_view engine,
                                std::chrono::milliseconds patience) {
  const int64_t asked_ns = parts_.recording.session_now();
  set_demand(why);
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
  launch_rate_.reset();
  counted_ = {};
  sampled_ = {};
  counted_at_ns_ = 0;
  const int64_t now_ns = parts_.recording.session_now();
  next_turn_ns_ = engine_ == kTraceEngine ? now_ns + turn_rest_ns_ : now_ns;
  if (may_count()) next_turn_ns_ = now_ns + before_counting_ns();
  if (budget_) parts_.recording.add_pause_cost(budget_->end_pause(now_ns));
  if (const auto phase = parts_.recording.phase()) {
    // Steps under counters tell nothing of what the rest costs: they are on neither side.
    constexpr int64_t kNever_ns = std::numeric_limits<int64_t>::max();
    steps_.begin_phase(awaited.asked_ns,
                       format::replaces_records(phase->engine) ? kNever_ns : phase->begin_ns);
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
  if (parts_.windows.is_wanted()) give_up_window({base::Code::Unavailable, "not_attached"});
}

bool PhasePacer::detach(CoverageEnd ending) {
  if (const auto why = parts_.recording.cannot_detach()) {
    stay_attached(*why);
    return false;
  }
  const Windows taken = windows();
  if (!parts_.recording.pause(ending, false, parts_.patience)) return false;
  if (engine_ == kSamplingEngine) tell_of_no_window(taken);
  on_detached();
  return true;
}

void PhasePacer::on_detached() {
  const auto phase = parts_.recording.last_phase();
  if (!phase) return;
  steps_.end_phase(phase->end_ns, parts_.recording.session_now());
  note_ended(*phase);
  settle(*phase, parts_.recording.is_still_attached());
}

// The budget pays for what has ended, but not for deep scopes and windows.
void PhasePacer::settle(const Phase& phase, bool is_attached) {
  if (!budget_) return;
  const int64_t now_ns = parts_.recording.session_now();
  if (phase.why == CoverageReason::DeepScope || phase.why == CoverageReason::DeepWindow) {
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

PhasePacer::Windows PhasePacer::windows() const {
  Windows windows;
  for (const NamedTraceStatus& one : parts_.recording.traces()) {
    if (!one.status.sampling) continue;
    windows.taken += one.status.sampling->windows;
    windows.skipped += one.status.sampling->windows_skipped;
  }
  return windows;
}

// Sampling was attached for nothing.
void PhasePacer::tell_of_no_window(const Windows& windows) {
  if (windows.taken != 0 || windows.skipped == 0) return;
  if (std::exchange(has_told_of_no_window_, true)) return;
  tell_lacking("profiling_engine", std::string(kSamplingEngine), "in part",
               {false, "no_window",
                "whenever a window of PC sampling was to open, a call of the program was under way "
                "for longer than 5 ms, so a turn of sampling had none",
                "copy with cudaMemcpyAsync and wait with cudaStreamSynchronize: sampling does not "
                "wait for those that only wait"});
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
  const bool counts = format::replaces_records(phase->engine);
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
  const bool is_window = phase->why == CoverageReason::DeepWindow;
  const CoverageReason reason = is_window ? CoverageReason::Session : phase->why;
  const auto ended = parts_.recording.begin_another(CoverageEnd::Failure, {reason, kTraceEngine});
  if (!ended) return;
  engine_ = kTraceEngine;
  note_ended(*ended);
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
    base::Status attached = attach(CoverageReason::Request, resting_engine(), parts_.patience);
    if (awaited_) is_paused_ = false;
    if (!attached) return attached;
  }
  is_paused_ = false;
  parts_.windows.refuse(DeepWindows::Refusal::None);
  return base::Status::ok();
}

base::Status PhasePacer::pause() {
  const BoundedLock lock(mutex_, parts_.patience);
  if (!lock) return busy();
  const bool was_attached = parts_.recording.phase().has_value();
  parts_.windows.close(format::DeepWindowEnd::Pause);
  base::Status paused = parts_.recording.pause(CoverageEnd::Request, true, parts_.patience);
  if (!paused) return paused;
  parts_.windows.refuse(DeepWindows::Refusal::Paused);
  is_paused_ = true;
  wants_attached_ = false;
  awaited_.reset();
  if (was_attached) on_detached();
  post_windows();
  return base::Status::ok();
}

}  // namespace gpufl::capture
