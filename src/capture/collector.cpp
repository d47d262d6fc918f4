// SPDX-License-Identifier: Apache-2.0
#include "capture/collector.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "capture/scope_recorder.hpp"

namespace gpufl::capture {

namespace {

using std::chrono::milliseconds;

constexpr int64_t kMillisecond_ns = 1'000'000;
constexpr milliseconds kPause{50};
constexpr milliseconds kHurriedPause{2};
constexpr int64_t kFlushEvery_ns = 50 * kMillisecond_ns;
constexpr int64_t kCountersEvery_ns = 100 * kMillisecond_ns;
constexpr int64_t kRotationCheckEvery_ns = 1000 * kMillisecond_ns;
constexpr int64_t kClockEvery_ns = 10'000 * kMillisecond_ns;
constexpr size_t kMaxWaitingEvents = 4096;

}  // namespace

Collector::Collector(const CollectorParts& parts)
    : parts_(parts), counters_(parts.log), samples_(parts.log), pause_(kPause) {
  if (parts.scope_session != 0) {
    scopes_.emplace(parts.log, parts.scope_session, parts.session_start_ns,
                    parts.tracer != nullptr);
  }
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

void Collector::post_event(const base::Json& fields) noexcept {
  const bool posted = attempt([&] {
    base::Json line = base::Json::object();
    line.set("time", session_now());
    for (const auto& [key, value] : fields.members()) line.set(key, value);
    const std::lock_guard lock(mutex_);
    if (events_.size() == kMaxWaitingEvents) {
      ++events_dropped_;
    } else {
      events_.push_back(std::move(line));
    }
  });
  if (!posted) drop_event();
}

void Collector::drop_event() noexcept {
  const std::lock_guard lock(mutex_);
  ++events_dropped_;
}

void Collector::flush() {
  std::unique_lock lock(mutex_);
  const uint64_t mine = ++flushes_asked_;
  cv_.notify_all();
  cv_.wait(lock, [&] { return ended_ || flushes_done_ >= mine; });
}

void Collector::stop(format::Ledger& ledger) noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    cv_.notify_all();
  }
  thread_.join();
  if (scopes_) {
    ledger.scopes_dropped = scopes_->dropped();
    ledger.scopes_unclosed = scopes_->unclosed();
    ledger.names_overflowed = scopes_->names_overflowed();
  }
  ledger.counters_overflowed = counters_.overflowed();
  ledger.rounds_lost = rounds_lost_;
  ledger.events_dropped = events_dropped_;
  ledger.collector_cpu_ns += thread_.cpu_ns();
}

int64_t Collector::intern(format::Dict dict, std::string_view value) {
  return parts_.log.intern(dict, value);
}

void Collector::submit(const format::Batch& rows) { parts_.log.write(rows); }

void Collector::write(format::Kind kind, const base::Json& line) { parts_.log.write(kind, line); }

backend::ScopeRef Collector::scope_at(int64_t thread, int64_t time_ns) {
  return scopes_ ? scopes_->scope_at(thread, time_ns) : backend::ScopeRef{};
}

int64_t Collector::stack(uint32_t) { return 0; }

int64_t Collector::session_now() const { return base::monotonic_ns() - parts_.session_start_ns; }

void Collector::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    const uint64_t asked = flushes_asked_;
    const bool last = stopping_;
    lock.unlock();
    const bool flush_now = last || asked != flushes_done_;
    // Each for itself: what one has no memory for does not keep the others from their work.
    bool whole = attempt([&] { collect(flush_now); });
    if (last && !attempt([&] { collect_last(); })) whole = false;
    const bool flush_due = flush_now || session_now() - last_flush_ns_ >= kFlushEvery_ns;
    if (flush_due && !attempt([&] { flush_log(session_now()); })) whole = false;
    if (!whole) ++rounds_lost_;
    lock.lock();
    flushes_done_ = asked;
    if (last) break;
    cv_.notify_all();
    cv_.wait_for(lock, pause_, [&] { return stopping_ || flushes_asked_ != flushes_done_; });
  }
  ended_ = true;
  cv_.notify_all();
}

void Collector::collect(bool everything) {
  const int64_t now_ns = session_now();
  if (parts_.tracer != nullptr) parts_.tracer->gather(now_ns);
  const uint64_t fullest = scopes_ ? scopes_->drain() : 0;
  samples_.write(parts_.sampler.take());
  if (parts_.tracer != nullptr) parts_.tracer->drain(now_ns, *this);
  write_events();
  if (everything || now_ns - last_counters_ns_ >= kCountersEvery_ns) {
    counters_.sample(now_ns);
    last_counters_ns_ = now_ns;
  }
  if (now_ns - last_clock_ns_ >= kClockEvery_ns) write_clock(now_ns);
  if (rounds_lost_ != rounds_lost_told_) tell_lost_rounds(now_ns);

  // A ring that was a quarter full fills up before the next round if its thread gets a little
  // faster: come back sooner, and calm down slowly.
  const bool hurried = fullest > ScopeRing::kEvents / 4;
  pause_ = hurried ? std::max(kHurriedPause, pause_ / 4) : std::min(kPause, pause_ * 2);
}

void Collector::collect_last() {
  const int64_t now_ns = session_now();
  if (scopes_) scopes_->finish(now_ns);
  write_clock(now_ns);
}

void Collector::write_events() {
  std::vector<base::Json> events;
  {
    const std::lock_guard lock(mutex_);
    events.swap(events_);
  }
  for (const base::Json& event : events) parts_.log.write(format::Kind::Event, event);
}

void Collector::tell_lost_rounds(int64_t now_ns) {
  base::Json line = base::Json::object();
  line.set("time", now_ns).set("name", "collector_out_of_memory").set("rounds", rounds_lost_);
  parts_.log.write(format::Kind::Event, line);
  rounds_lost_told_ = rounds_lost_;
}

void Collector::write_clock(int64_t now_ns) {
  const base::ClockAnchor anchor = base::read_clock_anchor();
  base::Json line = base::Json::object();
  line.set("time", anchor.monotonic_ns - parts_.session_start_ns)
      .set("wall", std::to_string(anchor.wall_ns))
      .set("error", anchor.error_ns);
  parts_.log.write(format::Kind::Clock, line);
  last_clock_ns_ = now_ns;
}

void Collector::flush_log(int64_t now_ns) {
  if (scopes_) {
    restate_after_rotation();
    scopes_->announce_open();
  }
  // What cannot be written is counted by the writer and stands in the ledger.
  (void)parts_.log.flush(now_ns);
  last_flush_ns_ = now_ns;
}

// A sealed window may be deleted later, and with it what it says of scopes that are still open.
void Collector::restate_after_rotation() {
  const int64_t now_ns = session_now();
  if (now_ns - last_rotation_check_ns_ < kRotationCheckEvery_ns) return;
  last_rotation_check_ns_ = now_ns;
  const uint64_t sealed = parts_.log.counts().windows_sealed;
  if (sealed == windows_sealed_) return;
  windows_sealed_ = sealed;
  scopes_->restate_open();
}

}  // namespace gpufl::capture
