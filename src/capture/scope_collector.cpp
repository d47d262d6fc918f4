// SPDX-License-Identifier: Apache-2.0
#include "capture/scope_collector.hpp"

#include <algorithm>
#include <limits>

#include "base/clock.hpp"
#include "capture/scope_recorder.hpp"

namespace gpufl::capture {

namespace {

using format::ScopeEnding;

constexpr size_t kMaxBatchRows = 4096;

uint64_t texts_overflowed() {
  return scope_recorder::names().overflowed() + scope_recorder::tags().overflowed();
}

// The log's id of a text, which it is asked for once.
int64_t log_id(format::LogWriter& log, const base::Interner& texts, uint32_t id,
               std::vector<int64_t>& known) {
  constexpr int64_t kUnknown = -1;
  if (id >= known.size()) known.resize(id + 1, kUnknown);
  if (known[id] == kUnknown) known[id] = log.intern(format::Dict::Name, texts.text(id));
  return known[id];
}

}  // namespace

ScopeCollector::ScopeCollector(format::LogWriter& log, uint32_t session, int64_t session_start_ns,
                               bool keeps_history)
    : log_(log),
      session_(session),
      session_start_ns_(session_start_ns),
      ringless_before_(scope_recorder::ringless_drops()),
      names_overflowed_before_(texts_overflowed()) {
  if (keeps_history) history_.emplace();
  threads_.resize(scope_recorder::ring_count());
  for (uint32_t i = 0; i < threads_.size(); ++i) {
    const ScopeRing* ring = scope_recorder::ring(i);
    if (ring == nullptr) continue;
    threads_[i].dropped_before = ring->dropped();
    threads_[i].foreign_seen = ring->foreign_ends();
  }
}

void ScopeCollector::watch_for(RangeGate& gate) {
  if (gate.scope_name().empty()) return;
  gate_name_ = scope_recorder::names().intern(gate.scope_name());
  gate_ = &gate;
}

void ScopeCollector::keep_steps(std::vector<Step>& steps, size_t most) {
  steps_ = &steps;
  most_steps_ = most;
}

int64_t ScopeCollector::name_id(uint32_t name) {
  return log_id(log_, scope_recorder::names(), name, name_ids_);
}

int64_t ScopeCollector::tag_id(uint32_t tag) {
  constexpr int64_t kNone = 0;  // as a dictionary id in any column
  return tag == base::Interner::kEmptyId ? kNone
                                         : log_id(log_, scope_recorder::tags(), tag, tag_ids_);
}

int64_t ScopeCollector::session_time(int64_t monotonic_ns) const {
  return std::max<int64_t>(0, monotonic_ns - session_start_ns_);
}

// In two rounds: first how far each ring goes and which scopes were ended by other threads, then
// the rings' own events. An end by another thread is thus known before the opening thread's next
// begin is given its parent. A begin that such an end refers to may lie just behind the mark of
// its ring; the next drain has it, hence ForeignEnd::drains_left. What happened after the first
// mark was set is not known of every ring: such ends wait for the next drain too.
uint64_t ScopeCollector::drain() {
  const int64_t known_until_ns = base::monotonic_ns();
  const uint32_t rings = scope_recorder::ring_count();
  if (threads_.size() < rings) threads_.resize(rings);
  for (uint32_t i = 0; i < rings; ++i) {
    const ScopeRing* ring = scope_recorder::ring(i);
    if (ring == nullptr) continue;
    ThreadScopes& thread = threads_[i];
    thread.exited = ring->state() == ScopeRing::State::Exited;  // before the mark: then it is final
    thread.published = ring->published();
    gather_foreign_ends(*ring, thread);
  }
  uint64_t fullest = 0;
  for (uint32_t i = 0; i < rings; ++i) {
    ScopeRing* ring = scope_recorder::ring(i);
    if (ring == nullptr) continue;
    ThreadScopes& thread = threads_[i];
    const uint64_t taken = ring->drain_until(
        thread.published, [&](const ScopeEvent& event) { take(*ring, thread, event); });
    fullest = std::max(fullest, taken * (ScopeRing::kEvents / ring->capacity()));
    if (!thread.foreign_ends.empty()) {
      apply_foreign_ends(*ring, thread,
                         thread.exited ? std::numeric_limits<int64_t>::max() : known_until_ns);
      expire_foreign_ends(thread);
    }
    if (thread.exited) {
      close_all(thread, session_time(ring->exit_time_ns()), ScopeEnding::ThreadExit);
      thread.exited = false;
      if (thread.history != nullptr) history_->leave(*thread.history);
      thread.history = nullptr;
      ring->make_free(session_);
    }
  }
  if (history_) history_->settle(session_time(known_until_ns));
  write_rows();
  return fullest;
}

void ScopeCollector::gather_foreign_ends(const ScopeRing& ring, ThreadScopes& thread) {
  if (ring.foreign_ends() == thread.foreign_seen) return;
  ring.visit_until(thread.published, [&](const ScopeEvent& event) {
    if (!event.is_end() || event.token.ring() == ring.number()) return;
    ++thread.foreign_seen;
    if (event.token.session() != session_ || event.token.ring() >= threads_.size()) return;
    auto& ends = threads_[event.token.ring()].foreign_ends;
    const auto place = std::upper_bound(
        ends.begin(), ends.end(), event.time_ns,
        [](int64_t time_ns, const ForeignEnd& end) { return time_ns < end.time_ns; });
    ends.insert(place, {event.token, event.time_ns, 2});
  });
}

void ScopeCollector::take(ScopeRing& ring, ThreadScopes& thread, const ScopeEvent& event) {
  if (event.token.session() != session_) return;
  if (!thread.foreign_ends.empty()) apply_foreign_ends(ring, thread, event.time_ns);
  if (!event.is_end()) {
    thread.thread_id = ring.thread_id();
    if (history_ && thread.history == nullptr) {
      thread.history = &history_->enter(thread.thread_id);
    }
    begin(thread, event);
  } else if (event.token.ring() == ring.number()) {
    end(thread, event);
  }
}

void ScopeCollector::begin(ThreadScopes& thread, const ScopeEvent& event) {
  const int64_t parent = thread.innermost();
  const int64_t start_ns = session_time(event.time_ns);
  const auto depth = static_cast<int64_t>(thread.open.size());
  const bool is_deep = (event.tag & ScopeEvent::kDeep) != 0;
  thread.open.push_back({event.token, next_id_++, parent, depth, start_ns, event.name,
                         event.tag & ~ScopeEvent::kDeep, event.repeat, event.warmup, is_deep,
                         false});
  if (deep_ != nullptr && is_deep) deep_->fetch_add(1, std::memory_order_relaxed);
  if (thread.history != nullptr) {
    history_->change(*thread.history, start_ns, parent, thread.innermost());
  }
  if (gate_ != nullptr && event.name == gate_name_) gate_->on_scope(true, start_ns);
}

void ScopeCollector::close(ThreadScopes& thread, std::vector<OpenScope>::iterator scope,
                           int64_t end_ns, ScopeEnding ending) {
  write_row(thread, *scope, end_ns, ending);
  const int64_t before = thread.innermost();
  thread.open.erase(scope);
  if (thread.history != nullptr) {
    history_->change(*thread.history, end_ns, before, thread.innermost());
  }
}

void ScopeCollector::end(ThreadScopes& thread, const ScopeEvent& event) {
  auto& open = thread.open;
  const auto found = std::find_if(open.rbegin(), open.rend(), [&](const OpenScope& scope) {
    return scope.token == event.token;
  });
  if (found == open.rend()) return;
  const ScopeEnding ending = found == open.rbegin() ? ScopeEnding::Normal : ScopeEnding::OutOfOrder;
  close(thread, std::next(found).base(), session_time(event.time_ns), ending);
}

void ScopeCollector::apply_foreign_ends(ScopeRing& ring, ThreadScopes& thread, int64_t until_ns) {
  auto& ends = thread.foreign_ends;
  for (auto foreign = ends.begin(); foreign != ends.end() && foreign->time_ns <= until_ns;) {
    const auto scope =
        std::find_if(thread.open.begin(), thread.open.end(),
                     [&](const OpenScope& open) { return open.token == foreign->token; });
    if (scope == thread.open.end()) {
      ++foreign;
      continue;
    }
    close(thread, scope, session_time(foreign->time_ns), ScopeEnding::OtherThread);
    foreign = ends.erase(foreign);
    ring.release_one();
  }
}

void ScopeCollector::expire_foreign_ends(ThreadScopes& thread) {
  std::erase_if(thread.foreign_ends, [](ForeignEnd& end) { return --end.drains_left == 0; });
}

void ScopeCollector::close_all(ThreadScopes& thread, int64_t end_ns, ScopeEnding ending) {
  unclosed_ += thread.open.size();
  for (auto scope = thread.open.rbegin(); scope != thread.open.rend(); ++scope) {
    write_row(thread, *scope, end_ns, ending);
  }
  if (thread.history != nullptr) history_->change(*thread.history, end_ns, thread.innermost(), 0);
  thread.open.clear();
}

void ScopeCollector::write_row(const ThreadScopes& thread, const OpenScope& scope, int64_t end_ns,
                               ScopeEnding ending) {
  if (gate_ != nullptr && scope.name == gate_name_) gate_->on_scope(false, end_ns);
  if (deep_ != nullptr && scope.is_deep) deep_->fetch_sub(1, std::memory_order_relaxed);
  const bool is_step = scope.parent == 0 && ending == ScopeEnding::Normal &&
                       end_ns - scope.start_ns >= StepCost::kShortestStep_ns;
  if (steps_ != nullptr && is_step && steps_->size() < most_steps_) {
    steps_->push_back({name_id(scope.name), scope.start_ns, end_ns});
  }
  rows_.push_row({scope.id, scope.parent, thread.thread_id, scope.depth, name_id(scope.name),
                  tag_id(scope.tag), scope.start_ns, std::max<int64_t>(0, end_ns - scope.start_ns),
                  scope.repeat, scope.warmup, static_cast<int64_t>(ending)});
  if (rows_.rows() >= kMaxBatchRows) write_rows();
}

void ScopeCollector::write_rows() {
  if (rows_.empty()) return;
  log_.write(rows_);
  rows_.clear();
}

void ScopeCollector::announce_open() {
  for (ThreadScopes& thread : threads_) {
    for (OpenScope& scope : thread.open) {
      if (scope.announced) continue;
      scope.announced = true;
      open_rows_.push_row({scope.id, scope.parent, thread.thread_id, scope.depth,
                           name_id(scope.name), tag_id(scope.tag), scope.start_ns, scope.repeat,
                           scope.warmup});
    }
  }
  if (open_rows_.empty()) return;
  log_.write(open_rows_);
  open_rows_.clear();
}

void ScopeCollector::restate_open() {
  for (ThreadScopes& thread : threads_) {
    for (OpenScope& scope : thread.open) scope.announced = false;
  }
}

void ScopeCollector::finish(int64_t now_ns) {
  for (ThreadScopes& thread : threads_) close_all(thread, now_ns, ScopeEnding::Shutdown);
  write_rows();
}

std::string_view ScopeCollector::name_of_open(int64_t id) const {
  for (const ThreadScopes& thread : threads_) {
    for (const OpenScope& scope : thread.open) {
      if (scope.id == id) return scope_recorder::names().text(scope.name);
    }
  }
  return {};
}

uint64_t ScopeCollector::dropped() const {
  uint64_t dropped = scope_recorder::ringless_drops() - ringless_before_;
  for (uint32_t i = 0; i < threads_.size(); ++i) {
    const ScopeRing* ring = scope_recorder::ring(i);
    if (ring != nullptr) dropped += ring->dropped() - threads_[i].dropped_before;
  }
  return dropped;
}

uint64_t ScopeCollector::names_overflowed() const {
  return texts_overflowed() - names_overflowed_before_;
}

}  // namespace gpufl::capture
