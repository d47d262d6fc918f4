// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/pm_readings.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/decimal.hpp"
#include "format/capability.hpp"
#include "format/engines.hpp"

namespace gpufl::backend {
namespace {

constexpr size_t kMaxWaiting = 1'000'000;  // values
constexpr size_t kRowsOfBatch = 65'536;
// By so much samples may seem to end after they were read, or before sampling began, because two
// clocks are not one.
constexpr int64_t kClockSlackNs = 2'000'000;

void tell_lacking(const Availability& why, RowSink& sink) {
  const format::Capability note{"profiling_engine",
                                std::string(format::kPmEngine),
                                "in part",
                                why.reason,
                                why.detail,
                                why.hint,
                                "nvidia"};
  sink.write(format::Kind::Capability, note.to_json());
}

}  // namespace

PmReadings::PmReadings(bool is_scope_only, std::shared_ptr<const DeviceClock> clock,
                       const CaptureGate* gate, int64_t session_start_ns)
    : is_scope_only_(is_scope_only),
      clock_(std::move(clock)),
      gate_(gate),
      session_start_ns_(session_start_ns) {}

void PmReadings::put(PmReading reading) {
  note(Seen::Sample);
  const std::lock_guard lock(mutex_);
  const size_t fitting = (kMaxWaiting - waiting_values_) / reading.metrics->size();
  if (reading.samples.size() > fitting) {
    dropped_ += reading.samples.size() - fitting;
    reading.samples.resize(fitting);
  }
  if (reading.samples.empty()) return;
  waiting_values_ += reading.samples.size() * reading.metrics->size();
  waiting_.push_back(std::move(reading));
}

void PmReadings::note_dropped(uint64_t samples) {
  const std::lock_guard lock(mutex_);
  dropped_ += samples;
}

void PmReadings::note_gpu() { note(Seen::Gpu); }

void PmReadings::note_full_buffer() {
  note(Seen::Sample);
  const std::lock_guard lock(mutex_);
  ++full_buffers_;
}

void PmReadings::account(format::Ledger& ledger) const {
  const std::lock_guard lock(mutex_);
  ledger.pm_samples = kept_;
  ledger.pm_samples_dropped = dropped_;
  ledger.pm_buffers_full = full_buffers_;
}

// What was put by now is older than the scopes that are read next.
void PmReadings::gather(bool is_over) {
  is_over_ = is_over;
  const std::lock_guard lock(mutex_);
  for (PmReading& reading : waiting_) gathered_.push_back(std::move(reading));
  waiting_.clear();
  waiting_values_ = 0;
}

void PmReadings::drain(DeviceNumbers& devices, RowSink& sink) {
  format::Batch rows(format::Kind::PmSample);
  for (const PmReading& reading : std::exchange(gathered_, {})) {
    const int64_t device = devices.of(reading.device);
    if (const std::optional<Span> span = place(reading, device)) {
      add(reading, *span, device, sink, rows);
      continue;
    }
    {
      const std::lock_guard lock(mutex_);
      dropped_ += reading.samples.size();
    }
    if (std::exchange(has_told_of_clock_, true)) continue;
    tell_lacking({false, "clock_unknown",
                  "samples of hardware counters have times that are not those at which they were "
                  "taken, on no clock that is known, so they are left out",
                  ""},
                 sink);
  }
  if (!rows.empty()) sink.submit(rows);
  if (is_over_ && sink.is_last_round()) tell_what_lacks(sink);
}

// By the GPU's timer where it could be read, else by the wall clock, which the driver sets it to;
// by neither, if that is not when they were taken.
std::optional<PmReadings::Span> PmReadings::place(const PmReading& reading, int64_t device) const {
  const uint64_t first = reading.samples.front().begin, last = reading.samples.back().end;
  const auto is_possible = [&](const Span& span) {
    return span.begin_ns >= reading.started_ns - kClockSlackNs &&
           span.end_ns <= reading.read.monotonic_ns + kClockSlackNs && span.end_ns > span.begin_ns;
  };
  if (const auto by_timer = clock_ ? clock_->place(device, first, last) : std::nullopt) {
    if (const Span span{by_timer->begin_ns, by_timer->end_ns}; is_possible(span)) return span;
  }
  const int64_t ahead_ns = reading.read.wall_ns - reading.read.monotonic_ns;
  const Span by_wall{static_cast<int64_t>(first) - ahead_ns, static_cast<int64_t>(last) - ahead_ns};
  if (is_possible(by_wall)) return by_wall;
  return std::nullopt;
}

bool PmReadings::is_wanted(int64_t begin_ns, int64_t end_ns, RowSink& sink) const {
  if (gate_ != nullptr && !gate_->is_open(begin_ns)) return false;
  if (!is_scope_only_ || sink.is_scope_open(begin_ns, end_ns)) return true;
  note(Seen::OutsideOfScopes);
  return false;
}

// The clocks run so evenly that what lies between first and last is on a line.
void PmReadings::add(const PmReading& reading, Span span, int64_t device, RowSink& sink,
                     format::Batch& rows) {
  const uint64_t first = reading.samples.front().begin;
  const double rate = static_cast<double>(span.end_ns - span.begin_ns) /
                      static_cast<double>(reading.samples.back().end - first);
  const auto session_time = [&](uint64_t stamp) {
    return span.begin_ns + static_cast<int64_t>(static_cast<double>(stamp - first) * rate) -
           session_start_ns_;
  };
  std::vector<int64_t> metrics;
  for (const std::string& name : *reading.metrics) {
    metrics.push_back(sink.intern(format::Dict::Metric, name));
  }
  uint64_t kept = 0;
  for (const PmSample& sample : reading.samples) {
    const int64_t begin_ns = session_time(sample.begin), end_ns = session_time(sample.end);
    if (!is_wanted(begin_ns, end_ns, sink)) continue;
    ++kept;
    for (size_t i = 0; i < sample.values.size(); ++i) {
      const auto value = base::to_decimal(sample.values[i]);
      if (!value) continue;
      rows.push_row(
          {begin_ns, end_ns - begin_ns, device, metrics[i], value->digits, value->exponent});
    }
    if (rows.rows() < kRowsOfBatch) continue;
    sink.submit(rows);
    rows.clear();
  }
  if (kept == 0) return;
  note(Seen::Kept);
  const std::lock_guard lock(mutex_);
  kept_ += kept;
}

// A session may have several tracers, one after the other.
std::atomic<int64_t>& PmReadings::session_with(Seen what) {
  static std::array<std::atomic<int64_t>, 4> sessions = {-1, -1, -1, -1};
  return sessions[static_cast<size_t>(what)];
}

void PmReadings::note(Seen what) const { session_with(what) = session_start_ns_; }

bool PmReadings::has(Seen what) const { return session_with(what) == session_start_ns_; }

// At the session's end.
void PmReadings::tell_what_lacks(RowSink& sink) const {
  if (has(Seen::Gpu) && !has(Seen::Sample)) {
    tell_lacking({false, "no_samples",
                  "the program ended before the first sample of hardware counters was taken, some "
                  "tenths of a second after its first use of a GPU",
                  ""},
                 sink);
  }
  if (!has(Seen::OutsideOfScopes) || has(Seen::Kept)) return;
  tell_lacking({false, "no_scope",
                "no scope of the program was open while hardware counters were sampled, and "
                "samples outside of scopes are left out",
                "mark what is to be sampled with a scope, or set pm_sampling_scope_only to false"},
               sink);
}

}  // namespace gpufl::backend
