// SPDX-License-Identifier: Apache-2.0
#include "capture/instruments.hpp"

#include <optional>
#include <utility>

#include "backend/markers/marker_source.hpp"
#include "capture/engine_ladder.hpp"
#include "capture/session_symbols.hpp"

namespace gpufl::capture {

namespace {

using backend::Availability;

format::Capability unavailable(std::string feature, std::string asked, std::string got,
                               Availability why) {
  return {std::move(feature),    std::move(asked),      std::move(got),
          std::move(why.reason), std::move(why.detail), std::move(why.hint)};
}

void open_health(const SessionConfig& config, Availability why, Instruments& out) {
  std::string got = "none";
  if (out.backend && why.available) {
    auto health = out.backend->make_health_source();
    if (health) {
      out.health = std::move(*health);
      out.devices = out.health->devices();
      got = out.backend_name();
    } else {
      why = {false, base::to_string(health.status().code()), health.status().message(), {}};
    }
  }
  // "auto" asks for what there is, and gets it.
  const std::string asked = config.backend == "auto" && got != "none" ? got : config.backend;
  if (asked == got) why = {};
  out.notes.push_back(unavailable("health", asked, got, std::move(why)));
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

// They need no engine; who asked for none is not told that they cannot be had.
void open_markers(const SessionConfig& config, int64_t start_ns, Instruments& out) {
  if (!out.backend) return;
  const std::optional<Availability> offered = out.backend->offer_markers();
  if (!offered) return;
  static constinit PythonStacks stacks;
  auto markers = backend::make_marker_source(out.gate.get(), &stacks);
  Availability started = offered->available ? markers->start(start_ns) : *offered;
  if (started.available) {
    out.markers = std::move(markers);
  } else if (config.engine != kMonitorEngine) {
    out.notes.push_back(unavailable("markers", "on", "off", std::move(started)));
  }
}

}  // namespace

OpenedTracer open_tracer(backend::Backend* backend, const backend::TraceOptions& options,
                         int64_t session_start_ns) {
  OpenedTracer opened;
  if (backend == nullptr) {
    opened.why = {false, "no_backend", "no GPU vendor's backend is in use", {}};
    return opened;
  }
  opened.why = backend->trace_available();
  if (!opened.why.available) return opened;
  auto tracer = backend->make_tracer(options);
  if (!tracer) {
    opened.why = {false, base::to_string(tracer.status().code()), tracer.status().message(), {}};
    return opened;
  }
  opened.why = (*tracer)->start(session_start_ns);
  if (opened.why.available) opened.tracer = std::move(*tracer);
  return opened;
}

std::vector<format::Capability> limitation_notes(const backend::Tracer& tracer) {
  std::vector<format::Capability> notes;
  for (backend::Limitation& one : tracer.limitations()) {
    notes.push_back(unavailable(std::move(one.feature), "on", "off", std::move(one.why)));
  }
  return notes;
}

bool Instruments::can_trace() const { return engine != kMonitorEngine; }

Instruments open_instruments(const SessionConfig& config, int64_t session_start_ns) {
  Instruments out;
  Availability why;
  out.backend = backend::make_backend(config.backend, why);
  open_health(config, std::move(why), out);

  out.trace_options = config.trace;
  OpenedTracer opened{nullptr, {true, {}, {}, {}}};
  if (config.engine != kMonitorEngine) {
    make_gate(config, session_start_ns, out);
    make_stacks(config, out);
    // A dormant session finds out when it is resumed.
    if (!config.dormant) {
      opened = open_tracer(out.backend.get(), out.trace_options, session_start_ns);
      out.tracer = std::move(opened.tracer);
    }
  }
  EngineChoice choice = choose_engine(config.engine, opened.why, config.features);
  out.engine = choice.engine;
  open_markers(config, session_start_ns, out);
  out.notes.insert(out.notes.end(), choice.notes.begin(), choice.notes.end());
  if (out.tracer) {
    for (format::Capability& note : limitation_notes(*out.tracer))
      out.notes.push_back(std::move(note));
  }
  if (out.stacks && out.can_trace()) {
    if (auto note = symbols_note()) out.notes.push_back(std::move(*note));
  }
  out.notes.insert(out.notes.end(), config.notes.begin(), config.notes.end());
  return out;
}

}  // namespace gpufl::capture
