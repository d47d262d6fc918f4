// SPDX-License-Identifier: Apache-2.0
#include "capture/scope_history.hpp"

#include <algorithm>

namespace gpufl::capture {

ScopeHistory::Thread& ScopeHistory::enter(int64_t thread) {
  auto found = threads_.find(thread);
  if (found == threads_.end()) {
    if (threads_.size() >= kMaxThreads) forget_ended();
    found = threads_.emplace(thread, std::make_unique<Thread>(thread, budget_)).first;
    recent_[static_cast<size_t>(thread) % recent_.size()] = {thread, found->second.get()};
  }
  ++found->second->lives_;
  return *found->second;
}

void ScopeHistory::leave(Thread& thread) { --thread.lives_; }

// The older half of the threads that are gone.
void ScopeHistory::forget_ended() {
  std::vector<const Thread*> ended;
  for (const auto& [id, thread] : threads_) {
    if (thread->lives_ == 0 && thread->unsettled_ == 0) ended.push_back(thread.get());
  }
  const auto middle = ended.begin() + static_cast<std::ptrdiff_t>((ended.size() + 1) / 2);
  std::nth_element(ended.begin(), middle, ended.end(), [](const Thread* a, const Thread* b) {
    return a->innermost_.last_change_ns() < b->innermost_.last_change_ns();
  });
  for (auto thread = ended.begin(); thread != middle; ++thread) {
    ended_forgotten_ns_ = std::max(ended_forgotten_ns_, (*thread)->innermost_.last_change_ns());
    const int64_t id = (*thread)->id_;
    threads_.erase(id);
  }
  recent_.fill({});
}

void ScopeHistory::change(Thread& thread, int64_t time_ns, int64_t before, int64_t after) {
  if (before == after) return;
  if (before == 0 || after == 0) {
    turns_.push_back({time_ns, &thread, after != 0});
    ++thread.unsettled_;
  }
  thread.innermost_.add(time_ns, after);
}

void ScopeHistory::settle(int64_t until_ns) {
  const auto earlier = [](const Turn& a, const Turn& b) { return a.time_ns < b.time_ns; };
  // In order for each thread already, so with one thread there is nothing to sort.
  if (!std::is_sorted(turns_.begin(), turns_.end(), earlier)) {
    std::stable_sort(turns_.begin(), turns_.end(), earlier);
  }
  auto turn = turns_.begin();
  for (; turn != turns_.end() && turn->time_ns < until_ns; ++turn) {
    Thread& thread = *turn->thread;
    --thread.unsettled_;
    if (thread.has_scope_ == turn->has_scope) continue;
    thread.has_scope_ = turn->has_scope;
    with_scope_ += turn->has_scope ? 1 : -1;
    sum_of_ids_ += turn->has_scope ? thread.id_ : -thread.id_;
    settled_ns_ = std::max(settled_ns_, turn->time_ns);
    const int64_t alone = with_scope_ == 1 ? sum_of_ids_ : kSeveral;
    only_.add(settled_ns_, with_scope_ == 0 ? kNobody : alone);
  }
  turns_.erase(turns_.begin(), turn);
  settled_ns_ = std::max(settled_ns_, until_ns);
}

ScopeHistory::Thread* ScopeHistory::find(int64_t thread) {
  Slot& slot = recent_[static_cast<size_t>(thread) % recent_.size()];
  if (slot.id != thread) {
    const auto found = threads_.find(thread);
    slot = {thread, found != threads_.end() ? found->second.get() : nullptr};
  }
  return slot.thread;
}

backend::ScopeRef ScopeHistory::at(int64_t thread, int64_t time_ns) {
  if (Thread* own = find(thread)) {
    const std::optional<int64_t> scope = own->innermost_.at(time_ns);
    if (!scope) return forgotten();
    if (*scope != 0) return {*scope, false};
  } else if (time_ns <= ended_forgotten_ns_) {
    return forgotten();
  }
  const std::optional<int64_t> only = only_.at(time_ns);
  if (!only) return forgotten();
  if (*only == kNobody || *only == kSeveral) return {};
  Thread* const other = find(*only);
  const auto scope = other != nullptr ? other->innermost_.at(time_ns) : std::nullopt;
  if (!scope) return forgotten();
  return {*scope, *scope != 0};
}

bool ScopeHistory::is_any_open(int64_t begin_ns, int64_t end_ns) {
  const std::optional<bool> is_open = only_.differs(begin_ns, end_ns, kNobody);
  if (!is_open) ++unknown_;
  return is_open.value_or(false);
}

}  // namespace gpufl::capture
