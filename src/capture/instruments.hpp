// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "capture/capture_gate.hpp"
#include "capture/session_config.hpp"
#include "capture/stack_log.hpp"
#include "format/capability.hpp"

// What watches the hardware for a session, and what had to be given up for it. Opening asks
// vendors' libraries and may take as long as they take. A tracing library is opened only for
// sessions that record at once.
namespace gpufl::capture {

struct OpenedTracer {
  std::shared_ptr<backend::Tracer> tracer;  // started; null: see why
  backend::Availability why;
};
// `backend` may be null.
OpenedTracer open_tracer(backend::Backend* backend, const backend::TraceOptions& options,
                         int64_t session_start_ns);
// What the tracer had to leave out.
std::vector<format::Capability> limitation_notes(const backend::Tracer& tracer);

struct Instruments {
  std::unique_ptr<backend::Backend> backend;  // null: none
  std::shared_ptr<backend::HealthSource> health;
  std::unique_ptr<RangeGate> gate;                 // null: everything is wanted
  std::unique_ptr<ThreadStacks> stacks;            // null: none are taken
  backend::TraceOptions trace_options;             // with pointers to the two above
  std::unique_ptr<backend::MarkerSource> markers;  // started; null: none
  std::shared_ptr<backend::Tracer> tracer;         // started; null: none now
  std::vector<backend::DeviceFacts> devices;
  std::string engine;  // that runs, or will when recording is resumed
  std::vector<format::Capability> notes;

  std::string backend_name() const { return backend ? std::string(backend->name()) : "none"; }
  bool can_trace() const;
};

Instruments open_instruments(const SessionConfig& config, int64_t session_start_ns);

}  // namespace gpufl::capture
