// SPDX-License-Identifier: Apache-2.0
#include "backend/scope_stops.hpp"

#include <algorithm>
#include <new>

#include "base/clock.hpp"

namespace gpufl::backend {

ScopeStops& ScopeStops::instance() {
  static auto* const one = new ScopeStops;
  return *one;
}

// False: nobody answers in time. Then no scope stops any more.
bool ScopeStops::wait_for_answer(std::unique_lock<std::mutex>& lock, uint64_t ticket) {
  const auto is_answered = [&] { return answered_ >= ticket || !is_listening(); };
  if (program_cv_.wait_for(lock, patience_, is_answered)) return answered_ >= ticket;
  has_run_out_ = true;
  listening_.store(false, std::memory_order_relaxed);
  program_cv_.notify_all();
  return false;
}

bool ScopeStops::before_begin(std::string_view name) noexcept {
  try {
    std::unique_lock lock(mutex_);
    if (!is_listening()) return false;
    note_begin(name);
    if (stage_ != Stage::Idle) {
      const bool is_inside = stage_ == Stage::Open && owner_ == std::this_thread::get_id();
      if (is_inside && plan_.begin_inside(name)) discard();
      return false;
    }
    const std::optional<size_t> group = plan_.begin(name);
    if (!group) return false;
    range_ = {true, false, *group, plan_.pass(), std::string(name), 0, 0, {}};
    stage_ = Stage::WantsOpen;
    owner_ = std::this_thread::get_id();
    scope_ = 0;
    const uint64_t ticket = ++ticket_;
    engine_cv_.notify_all();
    return wait_for_answer(lock, ticket) && stage_ == Stage::Open && ticket_ == ticket;
  } catch (const std::bad_alloc&) {  // it has no range
    return false;
  }
}

void ScopeStops::begun(uint64_t scope, int64_t thread) noexcept {
  const std::lock_guard lock(mutex_);
  if (stage_ != Stage::Open || owner_ != std::this_thread::get_id()) return;
  if (scope == 0) return discard();
  scope_ = scope;
  range_.thread = thread;
  range_.inside_ns = base::monotonic_ns();
}

void ScopeStops::ended(uint64_t scope) noexcept {
  std::unique_lock lock(mutex_);
  if (!is_listening()) return;
  const auto own = begun_.find(std::this_thread::get_id());
  if (own != begun_.end()) own->second.pop_back();
  if (own != begun_.end() && own->second.empty()) begun_.erase(own);
  if (stage_ != Stage::Open || scope_ != scope) return;
  stage_ = Stage::WantsClose;
  range_.opens = false;
  const uint64_t ticket = ++ticket_;
  engine_cv_.notify_all();
  (void)wait_for_answer(lock, ticket);
}

void ScopeStops::note_begin(std::string_view name) {
  std::vector<std::string>& begun = begun_[std::this_thread::get_id()];
  if (begun.size() < kMostBeside) begun.emplace_back(name);
  const bool is_open = stage_ == Stage::Opening || stage_ == Stage::Open;
  if (is_open && owner_ != std::this_thread::get_id()) note_beside(std::string(name));
}

void ScopeStops::note_beside(const std::string& name) {
  if (range_.beside.size() < kMostBeside) range_.beside.insert(name);
}

// Nobody waits for it.
void ScopeStops::discard() {
  stage_ = Stage::WantsClose;
  range_.opens = false;
  range_.is_discarded = true;
  ++ticket_;
  engine_cv_.notify_all();
}

void ScopeStops::set_idle() {
  stage_ = Stage::Idle;
  progress_.last_ns = base::monotonic_ns();
  answered_ = ticket_;
  program_cv_.notify_all();
}

void ScopeStops::begin_session() {
  const std::lock_guard lock(mutex_);
  plan_ = {};
  stage_ = Stage::Idle;
  answered_ = ticket_;
  has_run_out_ = false;
  progress_ = {};
}

void ScopeStops::listen(const std::vector<uint32_t>& passes) {
  const std::lock_guard lock(mutex_);
  plan_.set_groups(passes);
  if (has_run_out_) return;
  if (!is_listening()) {
    progress_.last_ns = base::monotonic_ns();
    begun_.clear();
  }
  listening_.store(true, std::memory_order_relaxed);
}

std::optional<RangeRequest> ScopeStops::wait(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(mutex_);
  const auto is_wanted = [&] { return stage_ == Stage::WantsOpen || stage_ == Stage::WantsClose; };
  if (!engine_cv_.wait_for(lock, at_most, is_wanted)) return std::nullopt;
  stage_ = stage_ == Stage::WantsOpen ? Stage::Opening : Stage::Closing;
  return range_;
}

bool ScopeStops::opened(bool is_open) {
  const std::lock_guard lock(mutex_);
  if (stage_ != Stage::Opening) return false;
  if (!is_open || !is_listening()) {
    ++progress_.skipped;
    plan_.give_up(is_open);
    set_idle();
    return false;
  }
  stage_ = Stage::Open;
  opened_ns_ = progress_.last_ns = base::monotonic_ns();
  for (const auto& [thread, names] : begun_) {
    if (thread == owner_) continue;
    for (const std::string& name : names) note_beside(name);
  }
  answered_ = ticket_;
  program_cv_.notify_all();
  return true;
}

void ScopeStops::closed(std::optional<bool> is_group_done) {
  const std::lock_guard lock(mutex_);
  if (stage_ != Stage::Closing) return;
  if (is_group_done) {
    plan_.end(*is_group_done);
    ++progress_.measured;
    progress_.longest_ns = std::max(progress_.longest_ns, base::monotonic_ns() - opened_ns_);
  } else {
    plan_.give_up(true);
    ++progress_.skipped;
  }
  set_idle();
}

RangeProgress ScopeStops::progress() const {
  const std::lock_guard lock(mutex_);
  RangeProgress progress = progress_;
  progress.is_open = stage_ != Stage::Idle;
  progress.is_complete = plan_.is_complete();
  return progress;
}

std::map<std::string, std::vector<size_t>> ScopeStops::stop() {
  const std::lock_guard lock(mutex_);
  listening_.store(false, std::memory_order_relaxed);
  if (stage_ != Stage::Idle) plan_.give_up(true);
  set_idle();
  return plan_.missing();
}

bool ScopeStops::has_run_out() const {
  const std::lock_guard lock(mutex_);
  return has_run_out_;
}

void ScopeStops::set_patience(std::chrono::nanoseconds patience) {
  const std::lock_guard lock(mutex_);
  patience_ = patience;
}

}  // namespace gpufl::backend
