// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "base/status.hpp"
#include "capture/warp_capture.hpp"
#include "format/log_writer.hpp"

// One recording: the log, the collector's thread, the sampler's threads. Used by the client
// library and by the monitor programs. All calls from any thread; none throws.
namespace gpufl::capture {

// Something asked for that is not, or not as asked, what the session does. Becomes a capability
// record; reports print those with asked != got first.
struct CapabilityNote {
  std::string feature;  // "profiling_engine", "enable_stack_trace", "health", ...
  std::string asked;
  std::string got;
  std::string reason;  // a stable word; empty when asked == got
  std::string detail;
  std::string hint;
};

base::Json to_json(const CapabilityNote& note);  // the fields of a `capability` line

struct SessionConfig {
  std::string app_name = "gpufl";
  std::filesystem::path log_root;  // sessions are folders below it
  std::string engine = "Monitor";  // as asked for; Session falls down the ladder
  std::string backend = "auto";    // a name of backend::backend_names(), "auto" or "none"
  int sample_interval_ms = 0;      // 0: no sampling unless `continuous` or systemStart: then 100
  bool continuous_sampling = false;
  bool dormant =
      false;            // records nothing of the GPU until resume(); opens no vendor library for it
  bool stacks = false;  // CPU stacks at launches and waits
  bool sources = true;  // and the source text around the lines that they name
  std::string capture_range;          // as RangeGate has it; empty: all is recorded
  std::string run_id;                 // sessions of one run share a folder; empty: no such folder
  backend::TraceOptions trace;        // its pointers are set by Session
  format::LogOptions log;             // session_dir is set by Session
  std::vector<std::string> features;  // options turned on by hand, "enable_stack_trace": those
                                      // that the engine cannot serve are noted
  std::vector<CapabilityNote> notes;  // what the caller found while reading its options
  std::vector<base::Json> events;     // `event` lines of the start, without their time
};

// The newest value of everything sampled, for live views and exporters.
struct MetricBoard {
  int64_t time_ns = 0;  // session time of the newest sample
  std::vector<backend::DeviceFacts> devices;
  std::vector<backend::MetricValue> device_values;
  std::vector<backend::MetricValue> host_values;  // .device unused
  std::vector<backend::ProcessUse> processes;
  std::vector<backend::DeviceEvent> recent_events;             // the last 64
  std::vector<std::pair<std::string, uint64_t>> event_counts;  // "xid" -> 3 since the start
  uint64_t samples_taken = 0, samples_missed = 0;
  format::WriterCounts log;  // what the log has taken and dropped
};

class Session {
 public:
  static base::Result<std::unique_ptr<Session>> start(SessionConfig config);
  virtual ~Session() = default;

  virtual const std::filesystem::path& dir() const = 0;
  virtual const std::vector<CapabilityNote>& capabilities() const = 0;
  virtual void system_start(std::string_view name) = 0;
  virtual void system_stop(std::string_view name) = 0;
  virtual MetricBoard board() const = 0;
  // Everything recorded before the call is in the log, unsealed, when it returns.
  virtual void flush() = 0;
  // Recording of the GPU while the program runs; scopes, counters and health go on. Repeating
  // either is no error. resume() fails, with the reason's word in front, when the engine cannot
  // run.
  virtual base::Status resume() = 0;
  virtual base::Status pause() = 0;
  // An event `mark` at the time of the call.
  virtual void mark(std::string_view text) = 0;
  // Before a launch that warpscope profiles: reads the GPU's clock, unless that was done of late.
  virtual void open_warpscope() = 0;
  // After it, on the same thread: the words are its capture. Fails with LimitReached when too much
  // waits to be written.
  virtual base::Status record_warpscope(WarpCapture capture) = 0;
  // Appends words from the memory of the GPU that is current on this thread.
  virtual base::Status copy_from_device(const void* device_words, size_t count,
                                        std::vector<uint64_t>& words) = 0;
  // What `gpufl control status` shows: session_id, dir, state, engine, times, counts, what is
  // pending.
  virtual base::Json status() const = 0;
  // Ends the recording and seals the log. Idempotent.
  virtual base::Status stop() = 0;
  // After fork(), in the child: no thread of ours runs there; touches no file, joins nothing.
  virtual void abandon() = 0;
};

}  // namespace gpufl::capture
