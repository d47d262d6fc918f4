// SPDX-License-Identifier: Apache-2.0
#include "capture/collector.hpp"

#include <signal.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/own_threads.hpp"
#include "capture/scope_recorder.hpp"
#include "format/clock_line.hpp"

namespace gpufl::capture {

namespace {

using std::chrono::milliseconds;

constexpr int64_t kMillisecond_ns = 1'000'000;
constexpr int64_t kFlushEvery_ns = 50 * kMillisecond_ns;
constexpr int64_t kCountersEvery_ns = 100 * kMillisecond_ns;
constexpr int64_t kLookAtLogEvery_ns = 1000 * kMillisecond_ns;
constexpr int64_t kLookAtThreadsEvery_ns = 1000 * kMillisecond_ns;
constexpr int64_t kClockEvery_ns = 10'000 * kMillisecond_ns;
constexpr size_t kMaxWaitingEvents = 4096;
constexpr size_t kMaxWaitingSteps = 4096;

// Python: "file.py:12 in function"; native: "libx.so+0x1234".
std::string frame_text(const symbols::StackFrame& frame) {
  if (frame.is_python()) {
    return frame.file + ":" + std::to_string(frame.line) + " in " + frame.function;
  }
  if (frame.module.empty()) return frame.function.empty() ? "?" : frame.function;
  char offset[32];
  std::snprintf(offset, sizeof(offset), "+0x%" PRIx64, frame.offset);
  return frame.module + offset;
}

}  // namespace

Collector::Collector(const CollectorParts& parts)
    : parts_(parts), counters_(parts.log), samples_(parts.log) {
  if (parts.takes_stacks) make_stack_log();
  if (parts.scope_session == 0) return;
  scopes_.emplace(parts.log, parts.scope_session, parts.session_start_ns, parts.attributes);
  if (parts.gate != nullptr) scopes_->watch_for(*parts.gate);
  if (parts.deep_scopes != nullptr) scopes_->count_deep(*parts.deep_scopes);
  if (parts.keeps_steps) scopes_->keep_steps(new_steps_, kMaxWaitingSteps);
}

template <typename Step>
bool Collector::attempt(Step&& step) {
  try {
    step();
    return true;
  } catch (...) {
    return false;
  }
}

bool Collector::start() {
  ended_ = false;
  write_clock(session_now());
  if (thread_.start("gpufl-collect", [this] { run(); })) return true;
  ended_ = true;
  return false;
}

bool Collector::set_tracers(std::vector<NamedTracer> tracers, milliseconds patience) {
  std::unique_lock lock(mutex_);
  next_tracers_ = std::move(tracers);
  tracers_change_ = true;
  cv_.notify_all();
  return cv_.wait_for(lock, patience, [&] { return ended_ || !tracers_change_; });
}

void Collector::post_event(const base::Json& fields) noexcept {
  const bool is_made = attempt([&] {
    base::Json line = base::Json::object();
    line.set("time", session_now());
    for (const auto& [key, value] : fields.members()) line.set(key, value);
    post(format::Kind::Event, std::move(line));
  });
  if (!is_made) drop_event();
}

void Collector::post(format::Kind kind, base::Json line) noexcept {
  const std::lock_guard lock(mutex_);
  if (posted_.size() == kMaxWaitingEvents ||
      !attempt([&] { posted_.emplace_back(kind, std::move(line)); })) {
    ++events_dropped_;
  }
}

void Collector::post_phase(const Phase& phase) noexcept {
  const std::lock_guard lock(mutex_);
  if (!attempt([&] { posted_phases_.push_back(phase); })) ++events_dropped_;
}

void Collector::post_deep_window(const DeepWindow& window) noexcept {
  const std::lock_guard lock(mutex_);
  if (!attempt([&] { posted_windows_.push_back(window); })) ++events_dropped_;
}

std::vector<Step> Collector::take_steps() {
  const std::lock_guard lock(mutex_);
  return std::exchange(steps_, {});
}

void Collector::drop_event() noexcept {
  const std::lock_guard lock(mutex_);
  ++events_dropped_;
}

bool Collector::flush(std::optional<milliseconds> patience) {
  std::unique_lock lock(mutex_);
  const uint64_t mine = ++flushes_asked_;
  cv_.notify_all();
  const auto is_done = [&] { return ended_ || flushes_done_ >= mine; };
  if (patience) return cv_.wait_for(lock, *patience, is_done);
  cv_.wait(lock, is_done);
  return true;
}

std::optional<CollectorStatus> Collector::status(milliseconds patience) {
  std::unique_lock lock(mutex_);
  const uint64_t wanted = statuses_made_ + 1;
  status_asked_ = true;
  cv_.notify_all();
  const bool is_made =
      cv_.wait_for(lock, patience, [&] { return ended_ || statuses_made_ >= wanted; });
  if (!is_made || ended_) return std::nullopt;
  return status_;
}

CollectorStatus Collector::make_status() const {
  CollectorStatus status;
  account(status.ledger);
  status.ledger.collector_cpu_ns = base::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  std::optional<format::Ledger> accounts;
  for (const auto& [backend, tracer] : tracers_) {
    format::Ledger account;
    tracer->account(account);
    format::add_account(account, accounts);
    status.traces.push_back({backend, tracer->status()});
    describe_pending(status.traces.back().status, status);
  }
  if (accounts) status.ledger.add(*accounts);
  return status;
}

void Collector::describe_pending(const backend::TraceStatus& trace, CollectorStatus& status) const {
  for (const backend::PendingCall& call : trace.pending) {
    const std::string_view name = scopes_ ? scopes_->name_of_open(call.scope) : std::string_view();
    if (!name.empty()) status.scope_names[call.scope] = name;
    const auto id = static_cast<size_t>(call.stack);
    if (id == 0 || id >= recorded_stacks_.size() || status.stacks.contains(call.stack)) continue;
    auto& frames = status.stacks[call.stack];
    for (const symbols::StackFrame& frame :
         fold_driver_frames(symbols::StackTable::instance().frames(recorded_stacks_[id]))) {
      frames.push_back(frame_text(frame));
    }
  }
}

void Collector::account(format::Ledger& ledger) const {
  if (scopes_) {
    ledger.scopes_dropped = scopes_->dropped();
    ledger.scopes_unclosed = scopes_->unclosed();
    ledger.scopes_forgotten = scopes_->unknown();
    ledger.names_overflowed = scopes_->names_overflowed();
  }
  if (stack_log_) {
    ledger.stacks_dropped = symbols::StackTable::instance().dropped() - stacks_dropped_before_;
  }
  ledger.counters_overflowed = counters_.overflowed();
  ledger.rounds_lost = rounds_lost_;
  {
    const std::lock_guard lock(mutex_);
    ledger.events_dropped = events_dropped_;
  }
  if (parts_.markers != nullptr) parts_.markers->account(ledger);
  if (parts_.warps != nullptr) parts_.warps->account(ledger);
}

void Collector::stop(format::Ledger& ledger) noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    cv_.notify_all();
  }
  thread_.join();
  // Only a source of markers can run out of memory here: then its counts stay unknown.
  (void)attempt([&] { account(ledger); });
  ledger.collector_cpu_ns += thread_.cpu_ns();
}

int64_t Collector::intern(format::Dict dict, std::string_view value) {
  return parts_.log.intern(dict, value);
}

// A range inside a scope of ours is a part of that.
void Collector::note_ranges(const format::Batch& markers) {
  namespace column = format::marker_column;
  for (size_t row = 0; row < markers.rows() && new_steps_.size() < kMaxWaitingSteps; ++row) {
    const int64_t begin_ns = markers.at(column::kStart, row);
    const int64_t duration_ns = markers.at(column::kDuration, row);
    const bool is_part = markers.at(column::kScope, row) != 0;
    if (duration_ns < StepCost::kShortestStep_ns || is_part) continue;
    new_steps_.push_back({markers.at(column::kName, row), begin_ns, begin_ns + duration_ns});
  }
}

void Collector::hand_over_steps() {
  const std::lock_guard lock(mutex_);
  for (const Step& step : new_steps_) {
    if (steps_.size() == kMaxWaitingSteps) break;
    steps_.push_back(step);
  }
  new_steps_.clear();
}

void Collector::note_work(const format::Batch& rows) {
  const format::KindSpec& kind = rows.kind_spec();
  const auto gpu_time = std::find_if(kind.columns.begin(), kind.columns.end(), [](const auto& one) {
    return one.coding == format::Coding::GpuTime;
  });
  if (gpu_time == kind.columns.end()) return;
  const auto start = static_cast<size_t>(gpu_time - kind.columns.begin());
  const size_t duration = format::duration_of(kind, start);
  const int64_t now_ns = session_now();
  int64_t last_ns = last_work_end_ns_;
  for (size_t row = 0; row < rows.rows(); ++row) {
    int64_t end_ns = 0;
    if (__builtin_add_overflow(rows.at(start, row), rows.at(duration, row), &end_ns)) continue;
    if (end_ns <= now_ns) last_ns = std::max(last_ns, end_ns);  // else its time is impossible
  }
  last_work_end_ns_ = last_ns;
}

void Collector::submit(const format::Batch& rows) {
  if (parts_.keeps_steps && rows.kind() == format::Kind::Marker) note_ranges(rows);
  note_work(rows);
  if (parts_.warps != nullptr) parts_.warps->on_rows(rows);
  parts_.log.write(rows);
}

void Collector::write(format::Kind kind, const base::Json& line) {
  parts_.log.write(kind, line, format::spec(kind).channel);
}

backend::ScopeRef Collector::scope_at(int64_t thread, int64_t time_ns) {
  return scopes_ ? scopes_->scope_at(thread, time_ns) : backend::ScopeRef{};
}

bool Collector::is_scope_open(int64_t begin_ns, int64_t end_ns) {
  return scopes_ && scopes_->is_scope_open(begin_ns, end_ns);
}

void Collector::make_stack_log() {
  stacks_dropped_before_ = symbols::StackTable::instance().dropped();
  stack_log_.emplace(parts_.log, parts_.session_start_ns);
}

int64_t Collector::stack(uint32_t recorded) {
  if (recorded == 0) return 0;
  if (!stack_log_) make_stack_log();  // a framework annotates, and calls have none
  const int64_t id = stack_log_->id(recorded);
  const auto place = static_cast<size_t>(id);
  if (place >= recorded_stacks_.size()) recorded_stacks_.resize(place + 1);
  recorded_stacks_[place] = recorded;
  return id;
}

bool Collector::keep_code(int64_t time_ns, const backend::CodeImage& image) {
  return parts_.log.keep_module(time_ns, image);
}

int64_t Collector::session_now() const { return base::monotonic_ns() - parts_.session_start_ns; }

void Collector::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (tracers_change_) tracers_.swap(next_tracers_);  // allocates nothing
    tracers_change_ = false;
    cv_.notify_all();
    const uint64_t asked = flushes_asked_;
    const bool last = stopping_;
    is_last_round_ = last;
    const bool wants_status = status_asked_;
    lock.unlock();
    const bool flush_now = last || asked != flushes_done_;
    // Each for itself: what one has no memory for does not keep the others from their work.
    bool whole = attempt([&] { collect(flush_now); });
    if (last && !attempt([&] { collect_last(); })) whole = false;
    const bool flush_due = flush_now || session_now() - last_flush_ns_ >= kFlushEvery_ns;
    if (flush_due && !attempt([&] { flush_log(session_now()); })) whole = false;
    if (!whole) ++rounds_lost_;
    if (!last) (void)attempt([&] { end_process_if_alone(); });
    std::optional<CollectorStatus> status;
    if (wants_status) (void)attempt([&] { status = make_status(); });
    lock.lock();
    flushes_done_ = asked;
    if (wants_status) status_asked_ = false;
    if (status) {
      status_ = std::move(*status);
      ++statuses_made_;
    }
    if (last) break;
    cv_.notify_all();
    cv_.wait_for(lock, pause_.now(), [&] {
      return stopping_ || flushes_asked_ != flushes_done_ || tracers_change_ || status_asked_;
    });
  }
  ended_ = true;
  cv_.notify_all();
}

void Collector::collect(bool everything) {
  const int64_t now_ns = session_now();
  // What the tracers have in hand began before the scopes and ranges are read, so all of it finds
  // its own.
  size_t gathered_bytes = 0;
  for (const NamedTracer& one : tracers_) {
    if (everything) one.tracer->ask_next_time();
    one.tracer->gather(now_ns);
    gathered_bytes += one.tracer->gathered_bytes();
  }
  const int64_t gathered_ns = session_now();
  const uint64_t fullest = scopes_ ? scopes_->drain() : 0;
  if (parts_.markers != nullptr) parts_.markers->drain(now_ns, *this);
  if (parts_.gate != nullptr) parts_.gate->settle(gathered_ns);
  if (stack_log_) symbols::StackTable::instance().refresh();
  samples_.write(parts_.sampler.take());
  for (const NamedTracer& one : tracers_) one.tracer->drain(now_ns, *this);
  if (parts_.keeps_steps) hand_over_steps();
  if (parts_.warps != nullptr) parts_.warps->write(now_ns, !tracers_.empty(), everything, *this);
  write_posted();
  if (everything || now_ns - last_counters_ns_ >= kCountersEvery_ns) {
    counters_.sample(now_ns);
    last_counters_ns_ = now_ns;
  }
  if (now_ns - last_clock_ns_ >= kClockEvery_ns) write_clock(now_ns);
  if (rounds_lost_ != rounds_lost_told_) tell_lost_rounds(now_ns);

  pause_.next(fullest > ScopeRing::kEvents / 4, gathered_bytes, gathered_ns - last_gathered_ns_);
  last_gathered_ns_ = gathered_ns;
}

void Collector::collect_last() {
  const int64_t now_ns = session_now();
  if (scopes_) scopes_->finish(now_ns);
  if (parts_.gate != nullptr) parts_.log.write(format::Kind::Event, parts_.gate->summary(now_ns));
  write_clock(now_ns);
}

void Collector::write_posted() {
  std::vector<std::pair<format::Kind, base::Json>> posted;
  std::vector<Phase> phases;
  std::vector<DeepWindow> windows;
  {
    const std::lock_guard lock(mutex_);
    posted.swap(posted_);
    phases.swap(posted_phases_);
    windows.swap(posted_windows_);
  }
  for (const Phase& phase : phases) write_phase(phase, parts_.log);
  for (const DeepWindow& window : windows) write_deep_window(window, parts_.log);
  for (const auto& [kind, line] : posted) parts_.log.write(kind, line);
}

void Collector::tell_lost_rounds(int64_t now_ns) {
  base::Json line = base::Json::object();
  line.set("time", now_ns).set("name", "collector_out_of_memory").set("rounds", rounds_lost_);
  parts_.log.write(format::Kind::Event, line);
  rounds_lost_told_ = rounds_lost_;
}

void Collector::write_clock(int64_t now_ns) {
  const base::ClockAnchor anchor = base::read_clock_anchor();
  const format::ClockLine line{anchor.monotonic_ns - parts_.session_start_ns, anchor.wall_ns,
                               std::nullopt, anchor.error_ns};
  parts_.log.write(format::Kind::Clock, line.to_json());
  last_clock_ns_ = now_ns;
}

void Collector::flush_log(int64_t now_ns) {
  look_at_log();
  if (scopes_) scopes_->announce_open();
  // What cannot be written is counted by the writer and stands in the ledger.
  (void)parts_.log.flush(now_ns);
  last_flush_ns_ = now_ns;
}

// As the C library does when the last thread of a program ends, which it cannot know while ours
// run. On a thread of its own, because what runs at exit waits for this one.
void Collector::end_process_if_alone() {
  const int64_t now_ns = session_now();
  if (is_process_ending_ || now_ns - last_look_at_threads_ns_ < kLookAtThreadsEvery_ns) return;
  last_look_at_threads_ns_ = now_ns;
  if (!base::are_only_own_threads_left()) return;
  std::thread([] {
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    std::exit(0);
  }).detach();
  is_process_ending_ = true;
}

void Collector::look_at_log() {
  const int64_t now_ns = session_now();
  if (last_look_at_log_ns_ && now_ns - *last_look_at_log_ns_ < kLookAtLogEvery_ns) return;
  last_look_at_log_ns_ = now_ns;
  const format::WriterCounts counts = parts_.log.counts();
  // A sign of life: the newest time in a log without an end is all that is known of how long the
  // session lasted. A log that is paused for want of room gets none: the few lines that it still
  // takes must last.
  if (counts.paused.empty()) write_clock(now_ns);
  if (!scopes_ || counts.windows_sealed == windows_sealed_) return;
  windows_sealed_ = counts.windows_sealed;
  // A sealed window may be deleted later, and with it what it says of scopes that are still open.
  scopes_->restate_open();
}

}  // namespace gpufl::capture
