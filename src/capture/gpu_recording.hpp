// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/status.hpp"
#include "capture/collector.hpp"
#include "capture/instruments.hpp"
#include "format/ledger.hpp"

// The recording of the GPUs within a session: for each backend one tracer after another, as it is
// paused and resumed, and the sum of their accounts. resume(), pause() and stop() from any thread,
// one at a time, each as long as the vendors take; state() and traces() wait for none of them.
// Borrows what it is given.
namespace gpufl::capture {

class GpuRecording {
 public:
  GpuRecording(Instruments& instruments, const SessionConfig& config, Collector& collector,
               int64_t session_start_ns);
  // In case stop() was not called.
  ~GpuRecording();
  GpuRecording(const GpuRecording&) = delete;
  GpuRecording& operator=(const GpuRecording&) = delete;

  // As Session's. resume() fails where it can be done on no backend.
  base::Status resume();
  base::Status pause();
  // Nothing is recorded from now on. The collector's last round still has the tracers.
  void stop();
  // After the collector's end: adds what all tracers counted.
  void account(format::Ledger& ledger);

  // "dormant", "paused", "recording", what a tracer says instead, what stood in its way, "ended",
  // or "monitoring" where nothing was asked for. Of several backends that of the first which
  // records.
  std::string state() const;
  std::vector<NamedTraceStatus> traces() const;  // of the tracers that there are now

 private:
  // What is recorded of one backend's GPUs.
  struct Part {
    backend::Backend* backend;
    std::shared_ptr<backend::Tracer> tracer;  // null: none now
    std::string state;
    std::optional<format::Ledger> accounts;  // of the tracers that are gone
    uint64_t refusals = 0;                   // tracers that could not begin
  };

  bool has_tracer() const;
  std::vector<NamedTracer> named_tracers() const;
  OpenedTracer open(Part& part);
  void note(const Part& part, const OpenedTracer& opened);

  const backend::TraceOptions options_;
  const std::string asked_engine_;
  Collector& collector_;
  const int64_t session_start_ns_;

  std::mutex operation_;  // held through resume(), pause(), stop(); guards what follows
  bool stopped_ = false;

  // For a moment only; guards tracers and states of the parts, which those who hold operation_
  // alone change.
  mutable std::mutex mutex_;
  std::vector<Part> parts_;
  std::string state_without_backend_;
};

}  // namespace gpufl::capture
