// SPDX-License-Identifier: Apache-2.0
#include "capture/gpu_recording.hpp"

#include <algorithm>
#include <utility>

#include "capture/engine_ladder.hpp"

namespace gpufl::capture {

namespace {

constexpr std::string_view kEnded = "ended";

base::Json event(std::string_view name) {
  base::Json line = base::Json::object();
  line.set("name", name);
  return line;
}

std::string first_state(const SessionConfig& config, std::string refusal) {
  if (config.engine == kMonitorEngine) return "monitoring";
  return config.dormant ? "dormant" : std::move(refusal);
}

}  // namespace

GpuRecording::GpuRecording(Instruments& instruments, const SessionConfig& config,
                           Collector& collector, int64_t session_start_ns)
    : options_(instruments.trace_options),
      asked_engine_(config.engine),
      collector_(collector),
      session_start_ns_(session_start_ns),
      state_without_backend_(first_state(config, no_backend().reason)) {
  for (BackendInstruments& one : instruments.backends) {
    Part part{one.backend.get(), std::move(one.tracer), first_state(config, one.refusal), {}, 0};
    if (part.tracer) part.state = "recording";
    if (!one.refusal.empty()) ++part.refusals;
    parts_.push_back(std::move(part));
  }
  collector_.set_tracers(named_tracers());
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

base::Status GpuRecording::resume() {
  const std::lock_guard operation(operation_);
  if (stopped_) return {base::Code::Unavailable, "session_ended: the session has ended"};
  if (asked_engine_ == kMonitorEngine) {
    return {base::Code::Unsupported,
            "engine_too_low: the session's engine is Monitor, which records nothing of the GPU"};
  }
  if (has_tracer()) return base::Status::ok();
  std::string refusals;
  std::vector<std::pair<Part*, OpenedTracer>> opened;
  for (Part& part : parts_) {
    opened.emplace_back(&part, open(part));
    const backend::Availability& why = opened.back().second.why;
    if (part.tracer) continue;
    refusals.append(refusals.empty() ? "" : "; ").append(why.reason).append(": ");
    refusals.append(why.detail);
  }
  if (has_tracer()) collector_.set_tracers(named_tracers());
  for (const auto& [part, tracer] : opened) note(*part, tracer);
  if (has_tracer()) {
    collector_.post_event(event("recording_resumed"));
    return base::Status::ok();
  }
  if (parts_.empty()) {
    const backend::Availability why = no_backend();
    collector_.post(format::Kind::Capability, choose_engine(asked_engine_, why).to_json());
    refusals = why.reason + ": " + why.detail;
  }
  return {base::Code::Unavailable, refusals};
}

OpenedTracer GpuRecording::open(Part& part) {
  OpenedTracer opened = open_tracer(*part.backend, options_, session_start_ns_);
  if (!opened.tracer) ++part.refusals;
  const std::lock_guard lock(mutex_);
  part.tracer = opened.tracer;
  part.state = opened.tracer ? "recording" : opened.why.reason;
  return opened;
}

void GpuRecording::note(const Part& part, const OpenedTracer& opened) {
  const std::string_view name = part.backend->name();
  const format::Capability engine = choose_engine(asked_engine_, opened.why, name);
  if (!engine.is_as_asked()) collector_.post(format::Kind::Capability, engine.to_json());
  if (!opened.tracer) return;
  for (const format::Capability& left_out : limitation_notes(*opened.tracer, name)) {
    collector_.post(format::Kind::Capability, left_out.to_json());
  }
}

base::Status GpuRecording::pause() {
  const std::lock_guard operation(operation_);
  if (stopped_) return {base::Code::Unavailable, "session_ended: the session has ended"};
  if (!has_tracer()) return base::Status::ok();
  for (const Part& part : parts_) {
    if (part.tracer) part.tracer->stop();
  }
  collector_.flush();  // a whole round, which reads the rest
  collector_.set_tracers({});
  for (Part& part : parts_) {
    if (!part.tracer) continue;
    format::Ledger account;
    part.tracer->account(account);
    format::add_account(account, part.accounts);
    const std::lock_guard lock(mutex_);
    part.tracer = nullptr;
    part.state = "paused";
  }
  collector_.post_event(event("recording_paused"));
  return base::Status::ok();
}

void GpuRecording::stop() {
  const std::lock_guard operation(operation_);
  if (std::exchange(stopped_, true)) return;
  for (const Part& part : parts_) {
    if (part.tracer) part.tracer->stop();
  }
}

void GpuRecording::account(format::Ledger& ledger) {
  const std::lock_guard operation(operation_);
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
  // Where there is no backend, there is no GPU either whose work could be missing.
  if (refusals != 0) ledger.tracings_refused = ledger.tracings_refused.value_or(0) + refusals;
}

std::string GpuRecording::state() const {
  if (const auto now = traces(); !now.empty()) return now.front().status.state;
  const std::lock_guard lock(mutex_);
  return parts_.empty() ? state_without_backend_ : parts_.front().state;
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
