// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/clock.hpp"
#include "base/status.hpp"
#include "capture/collector.hpp"
#include "capture/engine_ladder.hpp"
#include "capture/instruments.hpp"
#include "capture/phase.hpp"
#include "format/ledger.hpp"

// The recording of the GPUs within a session: for each backend one tracer after another, as it is
// paused and resumed, and the sum of their accounts. From resume() to pause() is a phase, and a row
// of `coverage`. resume(), pause() and stop() from any thread, one at a time, each as long as the
// vendors take; state() and traces() wait for none of them. Borrows what it is given.
namespace gpufl::capture {

// Why a phase begins, and of which engine it is to be, as far as the session's has it.
struct PhaseRequest {
  format::CoverageReason why = format::CoverageReason::Request;
  std::string_view engine = kSamplingEngine;
};

class GpuRecording {
 public:
  using Clock = int64_t (*)();  // the monotonic one, unless a test has another
  GpuRecording(Instruments& instruments, const SessionConfig& config, Collector& collector,
               int64_t session_start_ns, Clock clock = base::monotonic_ns);
  // In case stop() was not called.
  ~GpuRecording();
  GpuRecording(const GpuRecording&) = delete;
  GpuRecording& operator=(const GpuRecording&) = delete;

  // As Session's. resume() fails where it can be done on no backend. pause() fails where a tracer
  // cannot be stopped just now; it tries for a while if `is_patient`.
  base::Status resume(const PhaseRequest& request = {});
  base::Status pause(format::CoverageEnd ending = format::CoverageEnd::Request,
                     bool is_patient = true);
  // Nothing is recorded from now on. The collector's last round still has the tracers.
  void stop();
  // After the collector's end: adds what all tracers counted, and writes the last phase.
  void account(format::Ledger& ledger, format::LogWriter& log);

  int64_t session_now() const { return clock_() - session_start_ns_; }

  // By which part the program's steps take longer while it is recorded: the cost of phases that
  // end from now on. Nothing: not known from steps.
  void set_slowdown(std::optional<double> slowdown);

  // "dormant", "paused", "detached" between two phases, "recording", what a tracer says instead,
  // what stood in its way, "ended", or "monitoring" where nothing was asked for. Of several
  // backends that of the first which records.
  std::string state() const;
  std::vector<NamedTraceStatus> traces() const;  // of the tracers that there are now

  // The phase that is under way; its end and its cost are not known yet, but that of attaching.
  std::optional<Phase> phase() const;
  std::optional<Phase> last_phase() const;  // that has ended
  // Why the tracers that there are now must go on to the session's end, if that is so.
  std::optional<backend::Availability> cannot_detach() const;

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
  std::vector<std::shared_ptr<backend::Tracer>> tracers() const;
  OpenedTracer open(Part& part, std::string_view engine);
  void note(const Part& part, const OpenedTracer& opened);
  void post_once(const format::Capability& note);
  void begin_phase(format::CoverageReason why, std::string_view engine, int64_t begin_ns,
                   int64_t switching_ns);
  base::Status wait_until_detachable(bool is_patient) const;
  void stop_tracers(format::CoverageEnd ending);
  void count_detaching();
  std::optional<Phase> end_phase();

  const backend::TraceOptions options_;
  const std::string asked_engine_;
  Collector& collector_;
  const int64_t session_start_ns_;
  const Clock clock_;

  std::mutex operation_;  // held through resume(), pause(), stop(); guards what follows
  bool stopped_ = false;
  uint64_t phases_ = 0;
  int64_t attached_ns_ = 0;
  std::set<std::string> posted_;  // capability lines that the log has: each phase would have them

  // For a moment only; guards tracers and states of the parts and the phases, which those who hold
  // operation_ alone change.
  mutable std::mutex mutex_;
  std::vector<Part> parts_;
  std::string state_without_backend_;
  std::optional<Phase> phase_, last_phase_;
  std::optional<double> slowdown_;
};

}  // namespace gpufl::capture
