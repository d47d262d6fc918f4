// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backend/backend.hpp"
#include "base/status.hpp"
#include "capture/collector.hpp"
#include "capture/instruments.hpp"
#include "format/ledger.hpp"

// The recording of the GPU within a session: one tracer after another, as it is paused and resumed,
// and the sum of their accounts. resume(), pause() and stop() from any thread, one at a time, each
// as long as the vendor takes; state() and tracer() wait for none of them. Borrows what it is
// given.
namespace gpufl::capture {

class GpuRecording {
 public:
  GpuRecording(Instruments& instruments, const SessionConfig& config, Collector& collector,
               int64_t session_start_ns);
  // In case stop() was not called.
  ~GpuRecording();
  GpuRecording(const GpuRecording&) = delete;
  GpuRecording& operator=(const GpuRecording&) = delete;

  // As Session's.
  base::Status resume();
  base::Status pause();
  // Nothing is recorded from now on. The collector's last round still has the tracer.
  void stop();
  // After the collector's end: adds what all tracers counted.
  void account(format::Ledger& ledger);

  // "dormant", "paused", "recording", what the tracer says instead, what stood in its way, "ended",
  // or "monitoring" where nothing was asked for.
  std::string state() const;
  std::shared_ptr<backend::Tracer> tracer() const;  // null: none now

 private:
  void set_state(std::string state, std::shared_ptr<backend::Tracer> tracer);
  void add_account(const backend::Tracer& tracer);
  void tell(const OpenedTracer& opened);

  backend::Backend* const backend_;
  const backend::TraceOptions options_;
  const std::string asked_engine_;
  Collector& collector_;
  const int64_t session_start_ns_;

  std::mutex operation_;  // held through resume(), pause(), stop(); guards what follows
  bool stopped_ = false;
  std::optional<format::Ledger> accounts_;  // of the tracers that are gone
  uint64_t refusals_ = 0;                   // tracers that could not begin

  mutable std::mutex mutex_;  // for a moment only; guards what follows
  std::shared_ptr<backend::Tracer> tracer_;
  std::string state_;
};

}  // namespace gpufl::capture
