// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/clock.hpp"
#include "base/status.hpp"
#include "capture/bounded_mutex.hpp"
#include "capture/collector.hpp"
#include "capture/engine_ladder.hpp"
#include "capture/instruments.hpp"
#include "capture/phase.hpp"
#include "capture/service_thread.hpp"
#include "format/ledger.hpp"

// The recording of the GPUs within a session: for each backend one tracer after another, as it is
// paused and resumed, and the sum of their accounts. From resume() to pause() is a phase, and a row
// of `coverage`. resume(), pause() and stop() from any thread, one at a time, none without a bound;
// state() and traces() wait for none of them. Tracers start on a thread of their own, because a
// vendor's library may not come back from that before the program is calmer. Borrows what it is
// given.
namespace gpufl::capture {

// Why a phase begins, and of which engine it is to be, as far as the session's has it.
struct PhaseRequest {
  format::CoverageReason why = format::CoverageReason::Request;
  std::string_view engine = kSamplingEngine;
};

// Windows that these have taken.
SampledTime sampled_time(std::span<const NamedTraceStatus> traces);

class GpuRecording {
 public:
  using Clock = int64_t (*)();  // the monotonic one, unless a test has another
  // How long vendors' libraries and the collector are waited for.
  static constexpr std::chrono::milliseconds kPatience{5'000};

  GpuRecording(Instruments& instruments, const SessionConfig& config, Collector& collector,
               int64_t session_start_ns, Clock clock = base::monotonic_ns);
  // In case stop() was not called. Waits for what has not come back: see stop().
  ~GpuRecording();
  GpuRecording(const GpuRecording&) = delete;
  GpuRecording& operator=(const GpuRecording&) = delete;

  // As Session's. resume() fails where it can be done on no backend, and where the vendors have not
  // come back after `patience`: then is_attaching(), and the phase begins when they have. pause()
  // fails where a tracer cannot be stopped just now; it tries for a while if `is_patient`.
  base::Status resume(const PhaseRequest& request = {},
                      std::chrono::milliseconds patience = kPatience);
  base::Status pause(format::CoverageEnd ending = format::CoverageEnd::Request,
                     bool is_patient = true, std::chrono::milliseconds patience = kPatience);
  // The phase under way ends and another begins, with the same tracers: the one that has ended.
  // Nothing: not now, ask again.
  std::optional<Phase> begin_another(format::CoverageEnd ending, const PhaseRequest& request);
  // No more samples from now on; records go on. False: none were being taken.
  bool end_sampling();
  // Nothing is recorded from now on. The collector's last round still has the tracers. False: a
  // call of a vendor's library has not come back after `patience`, so this object, and all that it
  // was given, has to be kept for good.
  bool stop(std::chrono::milliseconds patience = kPatience);
  // After the collector's end: adds what all tracers counted, and writes the last phase.
  void account(format::Ledger& ledger, format::LogWriter& log);

  int64_t session_now() const { return clock_() - session_start_ns_; }

  // By which part the program's steps take longer while it is recorded: the cost of phases that
  // end from now on. Nothing: not known from steps.
  void set_slowdown(std::optional<Slowdown> slowdown);
  // What the phase under way is to answer for besides: the pause before it, in which
  // is_still_attached() was true.
  void add_pause_cost(int64_t cost_ns);

  // "dormant", "paused", "detached" between two phases, "attaching", "recording", what a tracer
  // says instead, what stood in its way, "ended", or "monitoring" where nothing was asked for. Of
  // several backends that of the first which records.
  std::string state() const;
  std::vector<NamedTraceStatus> traces() const;  // of the tracers that there are now

  // The phase that is under way; its end and its cost are not known yet, but that of attaching.
  std::optional<Phase> phase() const;
  std::optional<Phase> last_phase() const;  // that has ended
  // Tracers are being started, and vendors' libraries have not come back yet.
  bool is_attaching() const;
  // In the pause that there is a vendor's library could not be given up: the program is still
  // slower.
  bool is_still_attached() const;
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
  // What the tracers that there are now have counted in phases that have ended.
  struct Counted {
    int64_t attached_ns = 0;
    PhaseCost cost;
    uint64_t launches = 0, launch_calls = 0;
    SampledTime sampled;
  };

  bool has_tracer() const;
  std::vector<NamedTracer> named_tracers() const;
  std::vector<std::shared_ptr<backend::Tracer>> tracers() const;
  base::Status begin_attaching(const PhaseRequest& request, std::chrono::milliseconds patience);
  void attach(const backend::TraceOptions& options, std::string_view engine);
  base::Status adopt(const std::vector<OpenedTracer>& opened, int64_t asked_ns,
                     int64_t attached_ns);
  void take(Part& part, const OpenedTracer& opened);
  base::Status wait_until_attached(std::chrono::milliseconds patience);
  void cancel_attaching(format::CoverageEnd ending);
  void note(const Part& part, const OpenedTracer& opened);
  void post_once(const format::Capability& note);
  void begin_phase(format::CoverageReason why, std::string_view engine, int64_t begin_ns,
                   int64_t switching_ns);
  base::Status wait_until_detachable(bool is_patient) const;
  void stop_tracers(format::CoverageEnd ending);
  base::Status finish_pause(std::chrono::milliseconds patience);
  void count_detaching();
  std::optional<format::Ledger> account_of_tracers() const;
  std::optional<Phase> end_phase(const std::optional<format::Ledger>& account,
                                 std::span<const NamedTraceStatus> traces);

  const backend::TraceOptions options_;
  const std::string asked_engine_;
  Collector& collector_;
  const int64_t session_start_ns_;
  const Clock clock_;
  std::atomic<bool> stopped_{false};

  BoundedMutex operation_;   // held through pause(), stop() and the ends of resume(); guards these
  bool is_pausing_ = false;  // the tracers have stopped, and the collector has yet to read the rest
  uint64_t phases_ = 0;
  int64_t attached_ns_ = 0;
  Counted counted_;
  std::set<std::string> posted_;  // capability lines that the log has: each phase would have them

  // For a moment only; guards tracers and states of the parts and the phases, which those who hold
  // operation_ alone change, and what comes after them.
  mutable std::mutex mutex_;
  std::vector<Part> parts_;
  std::string state_without_backend_;
  std::optional<Phase> phase_, last_phase_;
  std::optional<Slowdown> slowdown_;
  bool is_still_attached_ = false;
  bool is_attaching_ = false;
  std::atomic<bool> is_unwanted_{false};  // whoever wanted it has changed their mind
  bool is_overdue_told_ = false;
  PhaseRequest attaching_for_;
  base::Status attached_;  // how the last attempt went
  std::condition_variable attached_cv_;
  bool is_left_behind_ = false;

  ServiceThread attaching_;  // ends before what it uses
};

}  // namespace gpufl::capture
