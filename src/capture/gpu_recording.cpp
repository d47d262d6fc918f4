// SPDX-License-Identifier: Apache-2.0
#include "capture/gpu_recording.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "capture/engine_ladder.hpp"

namespace gpufl::capture {

namespace {

using format::CoverageEnd;
using format::CoverageReason;
using namespace std::chrono_literals;

constexpr std::string_view kEnded = "ended";
constexpr auto kDetachPatience = 2s;
constexpr auto kAskAgain = 5ms;

template <typename Why>
base::Json event(std::string_view name, std::span<const format::Word> words, Why why) {
  base::Json line = base::Json::object();
  line.set("name", name).set("why", format::word_of(words, static_cast<int64_t>(why)));
  return line;
}

std::string first_state(const SessionConfig& config, std::string refusal) {
  if (config.engine == kMonitorEngine) return "monitoring";
  return config.dormant ? "dormant" : std::move(refusal);
}

}  // namespace

GpuRecording::GpuRecording(Instruments& instruments, const SessionConfig& config,
                           Collector& collector, int64_t session_start_ns, Clock clock)
    : options_(instruments.trace_options),
      asked_engine_(config.engine),
      collector_(collector),
      session_start_ns_(session_start_ns),
      clock_(clock),
      state_without_backend_(first_state(config, no_backend().reason)) {
  for (BackendInstruments& one : instruments.backends) {
    Part part{one.backend.get(), std::move(one.tracer), first_state(config, one.refusal), {}, 0};
    if (part.tracer) part.state = "recording";
    if (!one.refusal.empty()) ++part.refusals;
    parts_.push_back(std::move(part));
  }
  for (const format::Capability& note : instruments.notes) posted_.insert(note.to_json().dump());
  collector_.set_tracers(named_tracers());
  if (!has_tracer()) return;
  std::string_view engine = kTraceEngine;
  for (const BackendInstruments& one : instruments.backends) {
    const bool has_engine = !one.phase_engine.empty() && one.phase_engine != kTraceEngine;
    if (has_engine) engine = one.phase_engine;
  }
  begin_phase(config.overhead_budget > 0 ? CoverageReason::Budget : CoverageReason::Session, engine,
              instruments.attached_ns, instruments.attaching_ns);
}

GpuRecording::~GpuRecording() { stop(); }

bool GpuRecording::has_tracer() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.tracer != nullptr; });
}

std::vector<NamedTracer> GpuRecording::named_tracers() const {
  std::vector<NamedTracer> tracers;
  for (const Part& part : parts_) {
    if (part.tracer) tracers.push_back({std::string(part.backend->name()), part.tracer.get()});
  }
  return tracers;
}

void GpuRecording::begin_phase(CoverageReason why, std::string_view engine, int64_t begin_ns,
                               int64_t switching_ns) {
  Phase phase;
  phase.engine = engine;
  phase.why = why;
  phase.begin_ns = begin_ns;
  phase.cost.switching_ns = switching_ns;
  const std::lock_guard lock(mutex_);
  phase_ = phase;
}

// After the tracers' last round, while they are still there.
std::optional<Phase> GpuRecording::end_phase() {
  const std::lock_guard lock(mutex_);
  if (!phase_) return std::nullopt;
  Phase phase = *std::exchange(phase_, std::nullopt);
  std::optional<format::Ledger> account;
  int64_t windows_ns = 0;
  for (const Part& part : parts_) {
    if (!part.tracer) continue;
    if (const auto sampling = part.tracer->status().sampling) windows_ns += sampling->busy_ns;
    format::Ledger its;
    part.tracer->account(its);
    format::add_account(its, account);
  }
  if (account) {
    phase.launches = account->launches_seen;
    const PhaseCost counted = counted_cost(*account, phase.attached_ns(), windows_ns);
    phase.cost.switching_ns += counted.switching_ns;
    phase.cost.running_ns = counted.running_ns;
    phase.measure = format::CostMeasure::Calls;
    // No tracer could count by instruction: all recorded.
    if (phase.engine == kSassEngine && !account->launches_counted) phase.engine = kTraceEngine;
  }
  if (phase.engine == kSassEngine) {
    phase.cost.running_ns = phase.attached_ns();
    phase.measure = format::CostMeasure::Attached;
  } else if (slowdown_) {
    phase.cost.running_ns = step_cost_ns(*slowdown_, phase.attached_ns());
    phase.measure = format::CostMeasure::Steps;
  }
  ++phases_;
  attached_ns_ += phase.attached_ns();
  last_phase_ = phase;
  return phase;
}

base::Status GpuRecording::resume(const PhaseRequest& request) {
  const std::lock_guard operation(operation_);
  if (stopped_) return {base::Code::Unavailable, "session_ended: the session has ended"};
  if (asked_engine_ == kMonitorEngine) {
    return {base::Code::Unsupported,
            "engine_too_low: the session's engine is Monitor, which records no GPU work"};
  }
  if (has_tracer()) return base::Status::ok();
  std::string refusals;
  std::string_view engine = kTraceEngine;
  std::vector<std::pair<Part*, OpenedTracer>> opened;
  const int64_t asked_ns = session_now();
  for (Part& part : parts_) {
    opened.emplace_back(&part, open(part, request.engine));
    if (opened.back().second.engine != kTraceEngine) engine = opened.back().second.engine;
    const backend::Availability& why = opened.back().second.support.trace;
    if (part.tracer) continue;
    refusals.append(refusals.empty() ? "" : "; ").append(why.reason).append(": ");
    refusals.append(why.detail);
  }
  const int64_t attached_ns = session_now();
  if (has_tracer()) collector_.set_tracers(named_tracers());
  for (const auto& [part, tracer] : opened) note(*part, tracer);
  if (has_tracer()) {
    begin_phase(request.why, engine, attached_ns, attached_ns - asked_ns);
    collector_.post_event(event("recording_resumed", format::kCoverageReasonWords, request.why));
    return base::Status::ok();
  }
  if (parts_.empty()) {
    const backend::Availability why = no_backend();
    post_once(choose_engine(asked_engine_, {why, why, why}));
    refusals = why.reason + ": " + why.detail;
  }
  return {base::Code::Unavailable, refusals};
}

OpenedTracer GpuRecording::open(Part& part, std::string_view engine) {
  OpenedTracer opened = open_tracer(*part.backend, options_, engine, session_start_ns_);
  if (!opened.tracer) ++part.refusals;
  const std::lock_guard lock(mutex_);
  part.tracer = opened.tracer;
  part.state = opened.tracer ? "recording" : opened.support.trace.reason;
  return opened;
}

void GpuRecording::note(const Part& part, const OpenedTracer& opened) {
  const std::string_view name = part.backend->name();
  const format::Capability engine = choose_engine(asked_engine_, opened.support, name);
  if (!engine.is_as_asked()) post_once(engine);
  if (!opened.tracer) return;
  for (const format::Capability& left_out : limitation_notes(*opened.tracer, name)) {
    post_once(left_out);
  }
}

void GpuRecording::post_once(const format::Capability& note) {
  base::Json line = note.to_json();
  if (posted_.insert(line.dump()).second)
    collector_.post(format::Kind::Capability, std::move(line));
}

base::Status GpuRecording::wait_until_detachable(bool is_patient) const {
  const auto deadline = std::chrono::steady_clock::now() + kDetachPatience;
  const auto all = tracers();
  const auto may_detach = [](const auto& tracer) { return tracer->may_detach(); };
  while (!std::all_of(all.begin(), all.end(), may_detach)) {
    if (!is_patient || std::chrono::steady_clock::now() > deadline) {
      return {base::Code::Unavailable, "busy: recording cannot be stopped right now; try again"};
    }
    std::this_thread::sleep_for(kAskAgain);
  }
  return base::Status::ok();
}

void GpuRecording::stop_tracers(CoverageEnd ending) {
  const int64_t end_ns = session_now();
  for (const Part& part : parts_) {
    if (part.tracer) part.tracer->stop();
  }
  const std::lock_guard lock(mutex_);
  if (!phase_) return;
  phase_->end_ns = end_ns;
  phase_->ending = ending;
}

void GpuRecording::count_detaching() {
  const std::lock_guard lock(mutex_);
  if (phase_) phase_->cost.switching_ns += session_now() - phase_->end_ns;
}

base::Status GpuRecording::pause(CoverageEnd ending, bool is_patient) {
  const std::lock_guard operation(operation_);
  if (stopped_) return {base::Code::Unavailable, "session_ended: the session has ended"};
  if (!has_tracer()) return base::Status::ok();
  if (base::Status waited = wait_until_detachable(is_patient); !waited) return waited;
  stop_tracers(ending);
  collector_.flush();  // a whole round, which reads the rest and lets the vendor's library go
  collector_.set_tracers({});
  count_detaching();
  if (const auto phase = end_phase()) collector_.post_phase(*phase);
  for (Part& part : parts_) {
    if (!part.tracer) continue;
    format::Ledger account;
    part.tracer->account(account);
    format::add_account(account, part.accounts);
    const std::lock_guard lock(mutex_);
    part.tracer = nullptr;
    part.state = ending == CoverageEnd::Request ? "paused" : "detached";
  }
  collector_.post_event(event("recording_paused", format::kCoverageEndWords, ending));
  return base::Status::ok();
}

void GpuRecording::stop() {
  const std::lock_guard operation(operation_);
  if (std::exchange(stopped_, true)) return;
  stop_tracers(CoverageEnd::Session);
  count_detaching();  // as far as it has come: the collector's last round does the rest
}

void GpuRecording::account(format::Ledger& ledger, format::LogWriter& log) {
  const std::lock_guard operation(operation_);
  if (const auto phase = end_phase()) write_phase(*phase, log);
  std::optional<format::Ledger> accounts;
  uint64_t refusals = 0;
  for (Part& part : parts_) {
    if (part.tracer) {
      format::Ledger account;
      part.tracer->account(account);
      format::add_account(account, part.accounts);
    }
    if (part.accounts) format::add_account(*part.accounts, accounts);
    refusals += part.refusals;
    const std::lock_guard lock(mutex_);
    part.tracer = nullptr;
    part.state = kEnded;
  }
  const std::lock_guard lock(mutex_);
  state_without_backend_ = kEnded;
  if (accounts) ledger.add(*accounts);
  if (phases_ != 0) {
    ledger.phases = phases_;
    ledger.attached_ns = static_cast<uint64_t>(attached_ns_);
  }
  // Where there is no backend, there is no GPU either whose work could be missing.
  if (refusals != 0) ledger.tracings_refused = ledger.tracings_refused.value_or(0) + refusals;
}

std::string GpuRecording::state() const {
  if (const auto now = traces(); !now.empty()) return now.front().status.state;
  const std::lock_guard lock(mutex_);
  return parts_.empty() ? state_without_backend_ : parts_.front().state;
}

void GpuRecording::set_slowdown(std::optional<double> slowdown) {
  const std::lock_guard lock(mutex_);
  slowdown_ = slowdown;
}

std::optional<Phase> GpuRecording::phase() const {
  const std::lock_guard lock(mutex_);
  return phase_;
}

std::optional<Phase> GpuRecording::last_phase() const {
  const std::lock_guard lock(mutex_);
  return last_phase_;
}

std::vector<std::shared_ptr<backend::Tracer>> GpuRecording::tracers() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<backend::Tracer>> all;
  for (const Part& part : parts_) {
    if (part.tracer) all.push_back(part.tracer);
  }
  return all;
}

std::optional<backend::Availability> GpuRecording::cannot_detach() const {
  for (const auto& tracer : tracers()) {
    if (auto why = tracer->cannot_detach()) return why;
  }
  return std::nullopt;
}

std::vector<NamedTraceStatus> GpuRecording::traces() const {
  std::vector<std::pair<std::string, std::shared_ptr<backend::Tracer>>> now;
  {
    const std::lock_guard lock(mutex_);
    for (const Part& part : parts_) {
      if (part.tracer) now.emplace_back(part.backend->name(), part.tracer);
    }
  }
  std::vector<NamedTraceStatus> traces;
  for (const auto& [backend, tracer] : now) traces.push_back({backend, tracer->status()});
  return traces;
}

}  // namespace gpufl::capture
