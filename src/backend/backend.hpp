// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/trace_options.hpp"
#include "base/json.hpp"
#include "base/status.hpp"
#include "format/batch_sink.hpp"
#include "format/code_image.hpp"
#include "format/columns.hpp"
#include "format/ledger.hpp"

// What capture asks of a vendor, in small pieces. A backend offers any subset; one that is not
// there on this machine says so in words. Nothing here throws.
namespace gpufl::backend {

// Whether a feature can be had, and if not, why and what to do: one line of `gpufl doctor`, one
// capability record.
struct Availability {
  bool available = false;
  std::string
      reason;  // a stable word, "library_not_found", "permission_denied", ...; empty when available
  std::string detail;  // a sentence, with versions or the vendor's error
  std::string hint;    // what the user can do; empty when there is nothing to do
};

// What does not change while a session runs. An absent value is one the device does not tell.
struct DeviceFacts {
  int64_t device = 0;             // number within the session; every row refers to it
  std::optional<int64_t> parent;  // MIG instance: the number of its GPU
  std::string vendor, name, uuid, pci_bus, driver, runtime;
  std::string architecture;  // as compilers write it: "sm_90", "gfx942"
  std::optional<int64_t> compute_units, memory_bytes, power_limit_mw, max_compute_clock_mhz,
      max_memory_clock_mhz, memory_bus_bits, pcie_generation_max, pcie_width_max, link_count,
      slowdown_temperature_c, shutdown_temperature_c;
  // What only this vendor tells, or once told under a name of its own: fields of the line as well.
  std::vector<std::pair<std::string_view, int64_t>> own;
  base::Json to_json() const;  // the fields of a `device` line, under their own names
};

// The first number that none of them has.
int64_t number_after(const std::vector<DeviceFacts>& devices);

// One reading. `metric` is a static string: a name of backend/metric_table.hpp.
struct MetricValue {
  int64_t device = 0;
  int64_t index = 0;  // link, fan, core; 0 where there is one only
  std::string_view metric;
  int64_t value = 0;
};

struct ProcessUse {
  int64_t device = 0;
  int64_t pid = 0;
  std::string name;
  std::optional<int64_t> memory_bytes;
};

// Something that happened to a device between two samples (Xid, fell off the bus, back again).
struct DeviceEvent {
  int64_t device = 0;
  std::string name;  // "xid", "device_lost", "device_recovered"
  std::optional<int64_t> code;
  std::string text;
};

// Health of all GPUs of the machine. sample_fast and sample_slow are called by two threads, each
// by one; the rest by one thread at a time. A call may take as long as the driver takes.
class HealthSource {
 public:
  virtual ~HealthSource() = default;
  virtual std::vector<DeviceFacts> devices() = 0;
  // Appends. A field that a device does not support, or that fails now, is left out.
  virtual void sample_fast(std::vector<MetricValue>& out) = 0;
  virtual void sample_slow(std::vector<MetricValue>& out, std::vector<ProcessUse>& processes,
                           std::vector<DeviceEvent>& events) = 0;
};

// Code of a GPU that ran: a `module` line, and its image as a file of the session.
using CodeImage = format::CodeImage;

// The scope that a call was made in.
struct ScopeRef {
  int64_t scope = 0;       // 0: none
  bool inherited = false;  // another thread's: the only one that had a scope open
};

// Where a tracer puts its rows: implemented by the collector, called on its thread.
class RowSink : public format::BatchSink {
 public:
  // An object line: `event`, `clock`, `module`. `time` is the caller's.
  virtual void write(format::Kind kind, const base::Json& line) = 0;
  // The scope of a call by `thread` (system thread id) that began at `time_ns` (session time). Ask
  // when the call is decoded: scopes that ended long ago are forgotten.
  virtual ScopeRef scope_at(int64_t thread, int64_t time_ns) = 0;
  // Whether any thread had a scope open at some time of [begin_ns, end_ns). Asked of what had
  // happened before gather().
  virtual bool is_scope_open(int64_t /*begin_ns*/, int64_t /*end_ns*/) { return false; }
  // The log's id of a stack that StackRecorder::record() gave; 0 for 0.
  virtual int64_t stack(uint32_t recorded) = 0;
  // Keeps an image, once, within the session's bound. Copies it. False: not now, offer it again.
  virtual bool keep_code(int64_t /*time_ns*/, const CodeImage& /*image*/) { return true; }
  // Whether the session ends with this round: then it may take longer.
  virtual bool is_last_round() const { return false; }
};

// Takes CPU stacks. record() is called on the program's threads, inside a vendor's callback: once
// warm it takes no lock, allocates nothing and makes no system call.
class StackRecorder {
 public:
  virtual ~StackRecorder() = default;
  virtual uint32_t record() noexcept = 0;  // the calling thread's stack, by content; 0: none
};

// Says which part of the program is wanted. Calls that began outside are counted, not recorded.
class CaptureGate {
 public:
  virtual ~CaptureGate() = default;
  virtual bool is_open(int64_t time_ns) const = 0;  // session time; the collector's thread
  // The program called the vendor's profiler start or stop (monotonic clock). Any thread.
  virtual void on_profiler_start(int64_t monotonic_ns) noexcept = 0;
  virtual void on_profiler_stop(int64_t monotonic_ns) noexcept = 0;
  // A range that the program annotated began or ended (monotonic clock). The collector's thread,
  // before it decodes the calls of the same round; in the order of time within a round.
  virtual void on_range(std::string_view /*name*/, bool /*begins*/,
                        int64_t /*monotonic_ns*/) noexcept {}
};

// Told of kernels that the recorder itself has launched: they are in no account and have no row.
class OwnKernelListener {
 public:
  virtual ~OwnKernelListener() = default;
  // Monotonic clock; `called_ns`: when the launch was called. The collector's thread.
  virtual void on_own_kernel(int64_t device, int64_t called_ns, int64_t begin_ns,
                             int64_t end_ns) = 0;
};

// Two times of a GPU's own clock, on the monotonic clock.
struct DeviceInterval {
  int64_t begin_ns = 0, end_ns = 0;
  int64_t error_ns = 0;  // neither is further off than this
  int64_t tick_ns = 0;   // how finely the GPU's clock counts
};

// The clock that code inside a kernel reads, tied to ours by measurements. Any thread; nothing here
// starts a vendor's library.
class DeviceClock {
 public:
  virtual ~DeviceClock() = default;
  // Measures the GPU that is current on the calling thread, unless that was done less than
  // `max_age_ns` ago, and says which it is in the session. Takes some 0.1 ms, the first time of a
  // GPU some milliseconds more.
  virtual base::Result<int64_t> measure(int64_t max_age_ns) = 0;
  // Whether the tracer has yet to tell of what measure() has done.
  virtual bool awaits_records(int64_t device) const = 0;
  // Nothing while nothing was measured.
  virtual std::optional<DeviceInterval> place(int64_t device, uint64_t first,
                                              uint64_t last) const = 0;
  // What the GPU's clock shows at a time, to some 0.1 ms a second.
  virtual std::optional<uint64_t> stamp_at(int64_t device, int64_t monotonic_ns) const = 0;
};

// A part of tracing that had to be left out; the rest runs.
struct Limitation {
  std::string feature;  // "launch_count"
  Availability why;
};

// A call that has begun, or work that was launched, and has not come to its end.
struct PendingCall {
  std::string function;  // "cuLaunchKernel"
  int64_t time_ns = 0;   // when the call began, session time
  int64_t thread = 0;
  int64_t device = -1;  // -1: unknown
  int64_t correlation = 0;
  int64_t scope = 0;
  int64_t stack = 0;   // the log's id
  std::string kernel;  // that it launched, as the vendor writes it; empty: unknown, or none
};

// How PC sampling stands.
struct SamplingStatus {
  std::string state;  // "sampling", "ended", or a reason of Availability why there is none
  uint64_t windows = 0, windows_skipped = 0;
  int64_t busy_ns = 0;  // the length of windows in which something ran
  // Launches of several threads overlap in time. While sampling is enabled, these are made one
  // after another, and the program is slower until the tracer is gone: take some windows, then stop
  // it.
  bool threads_overlap = false;
};

struct TraceStatus {
  std::string state;   // "recording", "stopped", a reason of Availability, or the vendor's own word
  std::string detail;  // a sentence, where there is more to say
  uint64_t launches = 0, kernels = 0, dropped = 0;
  uint64_t pending_count = 0;
  std::vector<PendingCall> pending;          // the oldest of them, at most 64
  std::optional<SamplingStatus> sampling{};  // none: no samples were asked for
  // "counting", "counted" once all is, or why there are no counters; empty: none were asked for.
  std::string counting{};
};

// GPU activity. A round of the collector's thread, every few tens of milliseconds, has three steps:
// gather() asks the vendor for what is complete and takes it in hand; the collector reads the
// scopes; drain() decodes what was gathered and submits it. So every call that is decoded finds its
// scope. After stop() one more round reads the rest. `now_ns` and every time submitted are session
// time: nanoseconds since `session_start_ns` of the monotonic clock.
class Tracer {
 public:
  virtual ~Tracer() = default;
  virtual Availability start(int64_t session_start_ns) = 0;
  virtual std::vector<Limitation> limitations() const { return {}; }  // known after start()
  virtual void stop() = 0;
  virtual void gather(int64_t /*now_ns*/) {}
  // The next gather() asks the vendor even if it has just done so. The collector's thread.
  virtual void ask_next_time() {}
  // Of the vendor's records that gather() took in hand: where many come, rounds are more frequent.
  virtual size_t gathered_bytes() const { return 0; }
  virtual void drain(int64_t now_ns, RowSink& sink) = 0;
  // Adds what only the tracer knows: a session may have several tracers, one after another.
  virtual void account(format::Ledger& ledger) const = 0;
  // As of the last round. Any thread.
  virtual TraceStatus status() const = 0;
  // False: not now, ask again in some milliseconds (a stream captures into a graph). Any thread.
  virtual bool may_detach() const { return true; }
  // Why it must not be stopped before the session's end, if that is so: what the program does now
  // would not survive it. Any thread.
  virtual std::optional<Availability> cannot_detach() const { return std::nullopt; }
  // After stop() and the round after it: the vendor's library could not be given up, and the
  // program is somewhat slower for as long as that is so. Any thread.
  virtual bool is_still_attached() const { return false; }
  // No more samples from now on; records go on. May take seconds. False: none were being taken.
  // Any thread.
  virtual bool end_sampling() { return false; }
};

// Marks and ranges that the program gives through vendors' annotation APIs. start() and stop() on
// any thread; drain() on the collector's, between gather() and drain() of the tracer, and
// once more after stop(): then what is still open ends at `now_ns`.
class MarkerSource {
 public:
  virtual ~MarkerSource() = default;
  virtual Availability start(int64_t session_start_ns) = 0;
  virtual void stop() = 0;
  virtual void drain(int64_t now_ns, RowSink& sink) = 0;
  virtual void account(format::Ledger& ledger) const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;  // "nvidia", "amd", "synthetic"
  // The numbers below are those of other backends of the session. Called before the first source,
  // tracer or clock is made.
  void number_devices_from(int64_t first) { first_device_ = first; }
  // Opens the vendor's libraries when first called; cheap afterwards.
  virtual Availability health_available() = 0;
  virtual Availability trace_available() = 0;
  // Whether PC sampling can be had beside tracing, as far as that is known before it begins.
  virtual Availability sampling_available() {
    return {false, "not_supported", "this backend takes no samples of the program counter", ""};
  }
  // Likewise, whether counters by instruction can be had in turns with tracing.
  virtual Availability counting_available() {
    return {false, "not_supported", "this backend does not count by instruction", ""};
  }
  // Likewise, whether hardware counters by scope can be had.
  virtual Availability ranging_available() {
    return {false, "not_supported", "this backend has no hardware counters by scope", ""};
  }
  // Likewise, whether hardware counters over time can be had.
  virtual Availability pm_sampling_available() {
    return {false, "not_supported", "this backend has no hardware counters over time", ""};
  }
  // These again, asked of every GPU: may start the vendor's runtime, so for `gpufl doctor` alone.
  virtual Availability ask_sampling() { return sampling_available(); }
  virtual Availability ask_counting() { return counting_available(); }
  virtual Availability ask_ranging() { return ranging_available(); }
  virtual Availability ask_pm_sampling() { return pm_sampling_available(); }
  virtual base::Result<std::unique_ptr<HealthSource>> make_health_source() = 0;
  virtual base::Result<std::unique_ptr<Tracer>> make_tracer(const TraceOptions& options) = 0;
  // From the memory of the GPU that is current on the calling thread; waits for the copy.
  virtual base::Status copy_from_device(const void* /*from*/, void* /*to*/, size_t /*bytes*/) {
    return {base::Code::Unsupported, "this backend cannot copy"};
  }
  // Null: code in kernels has no clock that could be told. The backend's.
  virtual DeviceClock* device_clock() { return nullptr; }
  // Has the vendor's annotation API, if it has one, bring the program's marks and ranges to the
  // recorder of markers from now on; nothing is recorded there but for a MarkerSource.
  virtual std::optional<Availability> offer_markers() { return std::nullopt; }

 protected:
  int64_t first_device() const { return first_device_; }

 private:
  int64_t first_device_ = 0;
};

struct OpenedBackend {
  std::unique_ptr<Backend> backend;
  Availability health;
};
struct RefusedBackend {
  std::string asked;
  Availability why;
};
struct OpenedBackends {
  std::vector<OpenedBackend> list;
  std::vector<RefusedBackend> refused;
};
// registry.cpp: the one file that names vendors.
// `names`: of vendors, with commas between them: their backends, refused only where this build has
// none. "auto": those of all vendors (never synthetic) whose health is available; where there are
// none, "auto" itself is refused, with every vendor's words. "none" is refused as well.
OpenedBackends make_backends(std::string_view names);
std::vector<std::string_view> backend_names();

}  // namespace gpufl::backend
