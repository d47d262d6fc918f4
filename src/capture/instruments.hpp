// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "capture/capture_gate.hpp"
#include "capture/engine_ladder.hpp"
#include "capture/session_config.hpp"
#include "capture/stack_log.hpp"
#include "format/capability.hpp"
#include "format/session_header.hpp"

// What watches the hardware for a session, and what had to be given up for it. Opening asks
// vendors' libraries and may take as long as they take. A tracing library is opened only for
// sessions that record at once.
namespace gpufl::capture {

struct OpenedTracer {
  std::shared_ptr<backend::Tracer> tracer;  // started; null: see support
  std::string_view engine = kTraceEngine;   // of what was started
  EngineSupport support;
};
backend::Availability no_backend();  // why nothing is traced where there is none
// For a phase of `engine`; what cannot be had beside tracing is left out.
OpenedTracer open_tracer(backend::Backend& backend, const backend::TraceOptions& options,
                         std::string_view engine, int64_t session_start_ns);
// What the tracer of a backend had to leave out.
std::vector<format::Capability> limitation_notes(const backend::Tracer& tracer,
                                                 std::string_view backend);

// One backend of a session, with an engine of its own.
struct BackendInstruments {
  std::unique_ptr<backend::Backend> backend;
  std::shared_ptr<backend::Tracer> tracer;  // started; null: none now
  std::string_view phase_engine;            // the tracer's
  std::string refusal;                      // a word: why there is none though it was asked for
  std::string engine;                       // that runs, or will when recording is resumed
};

struct Instruments {
  std::vector<BackendInstruments> backends;        // in the order of their devices
  std::shared_ptr<backend::HealthSource> health;   // of all backends; null: none
  std::unique_ptr<RangeGate> gate;                 // null: everything is wanted
  std::unique_ptr<ThreadStacks> stacks;            // null: none are taken
  backend::TraceOptions trace_options;             // with pointers to the two above
  std::unique_ptr<backend::MarkerSource> markers;  // started; null: none
  std::vector<backend::DeviceFacts> devices;
  int64_t attaching_ns = 0;  // how long the tracers took to start
  int64_t attached_ns = 0;   // when they had, session time
  // Scopes are counted by the collector; the window is PhasePacer's.
  std::unique_ptr<backend::DeepDemand> deep = std::make_unique<backend::DeepDemand>();
  std::string engine;  // the highest of the backends', or will be when recording is resumed
  std::vector<format::Capability> notes;

  // The session line's: the first backend on which `engine` runs, or "none"; and all of them.
  std::string backend_name() const;
  std::vector<format::SessionBackend> backend_list() const;
  // The first backend that has one; null: none.
  backend::DeviceClock* device_clock() const;
};

Instruments open_instruments(const SessionConfig& config, int64_t session_start_ns);

}  // namespace gpufl::capture
