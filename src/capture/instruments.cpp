// SPDX-License-Identifier: Apache-2.0
#include "capture/instruments.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "backend/markers/marker_source.hpp"
#include "base/clock.hpp"
#include "capture/engine_ladder.hpp"
#include "capture/session_symbols.hpp"

namespace gpufl::capture {

namespace {

using backend::Availability;
using backend::HealthSource;

format::Capability unavailable(std::string feature, std::string asked, std::string got,
                               Availability why) {
  return {std::move(feature),    std::move(asked),      std::move(got),
          std::move(why.reason), std::move(why.detail), std::move(why.hint)};
}

// Those of several vendors as one. Each waits for those before it: vendors' drivers rarely hang.
class CombinedHealth final : public backend::HealthSource {
 public:
  explicit CombinedHealth(std::vector<std::unique_ptr<HealthSource>> all) : all_(std::move(all)) {}

  std::vector<backend::DeviceFacts> devices() override {
    std::vector<backend::DeviceFacts> devices;
    for (const auto& one : all_) {
      for (backend::DeviceFacts& facts : one->devices()) devices.push_back(std::move(facts));
    }
    return devices;
  }
  void sample_fast(std::vector<backend::MetricValue>& out) override {
    for (const auto& one : all_) one->sample_fast(out);
  }
  void sample_slow(std::vector<backend::MetricValue>& out,
                   std::vector<backend::ProcessUse>& processes,
                   std::vector<backend::DeviceEvent>& events) override {
    for (const auto& one : all_) one->sample_slow(out, processes, events);
  }

 private:
  const std::vector<std::unique_ptr<HealthSource>> all_;
};

// Null where there is none, for the reason in `health`.
std::unique_ptr<backend::HealthSource> open_health(backend::Backend& backend,
                                                   Availability& health) {
  if (!health.available) return nullptr;
  auto source = backend.make_health_source();
  if (source) return std::move(*source);
  health = {false, base::to_string(source.status().code()), source.status().message(), {}};
  return nullptr;
}

void open_backends(const std::string& names, Instruments& out) {
  backend::OpenedBackends opened = backend::make_backends(names);
  std::vector<std::unique_ptr<backend::HealthSource>> sources;
  for (backend::OpenedBackend& one : opened.list) {
    const std::string name(one.backend->name());
    one.backend->number_devices_from(backend::number_after(out.devices));
    auto source = open_health(*one.backend, one.health);
    format::Capability note{"health", name, source ? name : "none"};
    if (!source) note = unavailable("health", name, "none", std::move(one.health));
    note.backend = name;
    out.notes.push_back(std::move(note));
    if (source) {
      for (backend::DeviceFacts& facts : source->devices()) out.devices.push_back(std::move(facts));
      sources.push_back(std::move(source));
    }
    out.backends.push_back({std::move(one.backend), nullptr, {}, {}, {}});
  }
  for (backend::RefusedBackend& one : opened.refused) {
    const bool is_as_asked = one.asked == "none";
    out.notes.push_back(is_as_asked ? format::Capability{"health", "none", "none"}
                                    : unavailable("health", one.asked, "none", std::move(one.why)));
  }
  if (sources.size() == 1) {
    out.health = std::move(sources.front());
  } else if (!sources.empty()) {
    out.health = std::make_shared<CombinedHealth>(std::move(sources));
  }
}

void make_gate(const SessionConfig& config, int64_t start_ns, Instruments& out) {
  if (config.capture_range.empty()) return;
  auto gate = RangeGate::make(config.capture_range, start_ns);
  if (gate) {
    out.gate = std::move(*gate);
    out.trace_options.gate = out.gate.get();
  } else {
    out.notes.push_back(unavailable("capture_range", config.capture_range, "everything",
                                    {false, "bad_value", gate.status().message(), {}}));
  }
}

void make_stacks(const SessionConfig& config, Instruments& out) {
  if (!config.stacks) return;
  out.stacks = std::make_unique<ThreadStacks>();
  out.trace_options.stacks = out.stacks.get();
  for (symbols::StackLimitation& one : symbols::StackTable::instance().limitations()) {
    out.notes.push_back(unavailable("enable_stack_trace", "on", "in part",
                                    {false, std::move(one.reason), std::move(one.detail), {}}));
  }
}

// They need no engine; who asked for none is not told that they cannot be had. All vendors' are
// recorded in one place.
void open_markers(const SessionConfig& config, int64_t start_ns, Instruments& out) {
  const auto refuse = [&](std::string_view backend, Availability why) {
    if (config.engine == kMonitorEngine) return;
    out.notes.push_back(unavailable("markers", "on", "off", std::move(why)));
    out.notes.back().backend = backend;
  };
  std::string_view offered_by;
  for (const BackendInstruments& one : out.backends) {
    std::optional<Availability> offered = one.backend->offer_markers();
    if (!offered) continue;
    if (offered->available) {
      offered_by = one.backend->name();
    } else {
      refuse(one.backend->name(), std::move(*offered));
    }
  }
  if (offered_by.empty()) return;
  static constinit PythonStacks stacks;
  auto markers = backend::make_marker_source(out.gate.get(), &stacks);
  Availability started = markers->start(start_ns);
  if (started.available) {
    out.markers = std::move(markers);
  } else {
    refuse(offered_by, std::move(started));
  }
}

// The engine of one backend; a dormant session finds out about its tracer when it is resumed.
void open_engine(const SessionConfig& config, int64_t start_ns, BackendInstruments& one,
                 Instruments& out) {
  const std::string_view name = one.backend->name();
  OpenedTracer opened{nullptr, kTraceEngine, everything_supported()};
  if (config.engine != kMonitorEngine && !config.dormant) {
    const bool rests = config.deep_windows.is_only;
    opened = open_tracer(*one.backend, out.trace_options,
                         rests ? kTraceEngine : first_engine(config.engine), start_ns);
    if (!opened.tracer) one.refusal = opened.support.trace.reason;
  }
  format::Capability note = choose_engine(config.engine, opened.support, name);
  one.engine = note.got;
  one.phase_engine = opened.engine;
  one.tracer = std::move(opened.tracer);
  out.notes.push_back(std::move(note));
  if (!one.tracer) return;
  for (format::Capability& left_out : limitation_notes(*one.tracer, name)) {
    out.notes.push_back(std::move(left_out));
  }
}

size_t rank(std::string_view engine) {
  const auto names = engine_names();
  return static_cast<size_t>(std::find(names.begin(), names.end(), engine) - names.begin());
}

void open_engines(const SessionConfig& config, int64_t start_ns, Instruments& out) {
  out.engine = kMonitorEngine;
  const int64_t began_ns = base::monotonic_ns();
  for (BackendInstruments& one : out.backends) {
    open_engine(config, start_ns, one, out);
    if (rank(one.engine) > rank(out.engine)) out.engine = one.engine;
  }
  out.attached_ns = base::monotonic_ns() - start_ns;
  out.attaching_ns = out.attached_ns + start_ns - began_ns;
  if (!out.backends.empty()) return;
  EngineSupport support = everything_supported();
  if (!config.dormant) support.trace = no_backend();
  out.notes.push_back(choose_engine(config.engine, support));
  out.engine = out.notes.back().got;
}

}  // namespace

Availability no_backend() { return {false, "no_backend", "no GPU vendor's backend is in use", {}}; }

OpenedTracer open_tracer(backend::Backend& backend, const backend::TraceOptions& options,
                         std::string_view engine, int64_t session_start_ns) {
  OpenedTracer opened{nullptr, kTraceEngine, everything_supported()};
  Availability& trace = opened.support.trace;
  trace = backend.trace_available();
  if (!trace.available) return opened;
  backend::TraceOptions possible = phase_options(options, engine);
  if (options.pc_sampling) {
    opened.support.sampling = backend.sampling_available();
    if (!opened.support.sampling.available) possible.pc_sampling.reset();
  }
  if (options.sass) {
    opened.support.counting = backend.counting_available();
    if (!opened.support.counting.available) possible.sass.reset();
  }
  if (options.ranges) {
    opened.support.counting = backend.ranging_available();
    if (!opened.support.counting.available) possible.ranges.reset();
  }
  if (options.pm_sampling) {
    opened.support.counting = backend.pm_sampling_available();
    if (!opened.support.counting.available) possible.pm_sampling.reset();
  }
  auto tracer = backend.make_tracer(possible);
  if (!tracer) {
    trace = {false, base::to_string(tracer.status().code()), tracer.status().message(), {}};
    return opened;
  }
  trace = (*tracer)->start(session_start_ns);
  if (!trace.available) return opened;
  opened.tracer = std::move(*tracer);
  if (possible.pc_sampling) opened.engine = kSamplingEngine;
  if (possible.sass) opened.engine = kSassEngine;
  if (possible.ranges) opened.engine = kRangeEngine;
  if (possible.pm_sampling) opened.engine = kPmEngine;
  return opened;
}

std::vector<format::Capability> limitation_notes(const backend::Tracer& tracer,
                                                 std::string_view backend) {
  std::vector<format::Capability> notes;
  for (backend::Limitation& one : tracer.limitations()) {
    notes.push_back(unavailable(std::move(one.feature), "on", "off", std::move(one.why)));
    notes.back().backend = backend;
  }
  return notes;
}

std::string Instruments::backend_name() const {
  for (const BackendInstruments& one : backends) {
    if (one.engine == engine) return std::string(one.backend->name());
  }
  return "none";
}

std::vector<format::SessionBackend> Instruments::backend_list() const {
  std::vector<format::SessionBackend> list;
  for (const BackendInstruments& one : backends) {
    list.push_back({std::string(one.backend->name()), one.engine});
  }
  return list;
}

backend::DeviceClock* Instruments::device_clock() const {
  for (const BackendInstruments& one : backends) {
    if (backend::DeviceClock* clock = one.backend->device_clock()) return clock;
  }
  return nullptr;
}

Instruments open_instruments(const SessionConfig& config, int64_t session_start_ns) {
  Instruments out;
  open_backends(config.backend, out);
  out.trace_options = config.trace;
  if (out.trace_options.pc_sampling) {
    out.trace_options.pc_sampling->deep = out.deep.get();
  }
  if (config.engine != kMonitorEngine) {
    make_gate(config, session_start_ns, out);
    make_stacks(config, out);
  }
  open_engines(config, session_start_ns, out);
  open_markers(config, session_start_ns, out);
  for (format::Capability& note : unserved_features(out.engine, config.features)) {
    out.notes.push_back(std::move(note));
  }
  if (out.stacks && out.engine != kMonitorEngine) {
    if (auto note = symbols_note()) out.notes.push_back(std::move(*note));
  }
  out.notes.insert(out.notes.end(), config.notes.begin(), config.notes.end());
  return out;
}

}  // namespace gpufl::capture
