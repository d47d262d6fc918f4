// SPDX-License-Identifier: Apache-2.0
#include "capture/gpu_recording.hpp"

#include <utility>

#include "capture/engine_ladder.hpp"

namespace gpufl::capture {

namespace {

base::Json event(std::string_view name) {
  base::Json line = base::Json::object();
  line.set("name", name);
  return line;
}

std::string first_state(const Instruments& instruments, const SessionConfig& config) {
  if (config.engine == kMonitorEngine) return "monitoring";
  if (instruments.tracer) return "recording";
  if (config.dormant) return "dormant";
  for (const format::Capability& note : instruments.notes) {
    if (note.feature == kEngineFeature) return note.reason;
  }
  return "monitoring";
}

}  // namespace

GpuRecording::GpuRecording(Instruments& instruments, const SessionConfig& config,
                           Collector& collector, int64_t session_start_ns)
    : backend_(instruments.backend.get()),
      options_(instruments.trace_options),
      asked_engine_(config.engine),
      collector_(collector),
      session_start_ns_(session_start_ns),
      tracer_(std::move(instruments.tracer)),
      state_(first_state(instruments, config)) {
  collector_.set_tracer(tracer_.get());
  const bool was_asked = config.engine != kMonitorEngine && !config.dormant;
  if (was_asked && !tracer_) ++refusals_;
}

GpuRecording::~GpuRecording() { stop(); }

void GpuRecording::set_state(std::string state, std::shared_ptr<backend::Tracer> tracer) {
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
  tracer_.swap(tracer);
}

base::Status GpuRecording::resume() {
  const std::lock_guard operation(operation_);
  if (stopped_) return {base::Code::Unavailable, "session_ended: the session has ended"};
  if (asked_engine_ == kMonitorEngine) {
    return {base::Code::Unsupported,
            "engine_too_low: the session's engine is Monitor, which records nothing of the GPU"};
  }
  if (tracer_) return base::Status::ok();
  const OpenedTracer opened = open_tracer(backend_, options_, session_start_ns_);
  set_state(opened.tracer ? "recording" : opened.why.reason, opened.tracer);
  if (opened.tracer) collector_.set_tracer(opened.tracer.get());
  tell(opened);
  if (opened.tracer) return base::Status::ok();
  ++refusals_;
  return {base::Code::Unavailable, opened.why.reason + ": " + opened.why.detail};
}

void GpuRecording::tell(const OpenedTracer& opened) {
  const EngineChoice choice = choose_engine(asked_engine_, opened.why, {});
  for (const format::Capability& note : choice.notes) {
    if (note.asked != note.got) collector_.post(format::Kind::Capability, note.to_json());
  }
  if (!opened.tracer) return;
  for (const format::Capability& note : limitation_notes(*opened.tracer)) {
    collector_.post(format::Kind::Capability, note.to_json());
  }
  collector_.post_event(event("recording_resumed"));
}

base::Status GpuRecording::pause() {
  const std::lock_guard operation(operation_);
  if (stopped_) return {base::Code::Unavailable, "session_ended: the session has ended"};
  if (!tracer_) return base::Status::ok();
  const std::shared_ptr<backend::Tracer> tracer = tracer_;
  tracer->stop();
  collector_.flush();  // a whole round, which reads the rest
  collector_.set_tracer(nullptr);
  add_account(*tracer);
  set_state("paused", nullptr);
  collector_.post_event(event("recording_paused"));
  return base::Status::ok();
}

void GpuRecording::stop() {
  const std::lock_guard operation(operation_);
  if (std::exchange(stopped_, true)) return;
  if (tracer_) tracer_->stop();
}

void GpuRecording::add_account(const backend::Tracer& tracer) {
  format::Ledger account;
  tracer.account(account);
  if (accounts_) {
    accounts_->add_later(account);
  } else {
    accounts_ = std::move(account);
  }
}

void GpuRecording::account(format::Ledger& ledger) {
  const std::lock_guard operation(operation_);
  if (tracer_) add_account(*tracer_);
  set_state("ended", nullptr);
  if (accounts_) ledger.add(*accounts_);
  // Where there is no backend, there is no GPU either whose work could be missing.
  if (backend_ == nullptr || refusals_ == 0) return;
  ledger.tracings_refused = ledger.tracings_refused.value_or(0) + refusals_;
}

std::string GpuRecording::state() const {
  const std::shared_ptr<backend::Tracer> now = tracer();
  if (now) return now->status().state;
  const std::lock_guard lock(mutex_);
  return state_;
}

std::shared_ptr<backend::Tracer> GpuRecording::tracer() const {
  const std::lock_guard lock(mutex_);
  return tracer_;
}

}  // namespace gpufl::capture
