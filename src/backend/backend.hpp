// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"
#include "format/batch.hpp"
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
  std::optional<int64_t> sm_count, memory_bytes, compute_major, compute_minor, power_limit_mw,
      max_sm_clock_mhz, max_memory_clock_mhz, pcie_generation_max, pcie_width_max, nvlink_count,
      slowdown_temperature_c, shutdown_temperature_c;
  base::Json to_json() const;  // the fields of a `device` line, under their own names
};

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

// Where a tracer puts its rows: implemented by the collector, called on its thread.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual int64_t intern(format::Dict dict, std::string_view value) = 0;
  virtual void submit(const format::Batch& rows) = 0;
};

// What a tracer records beyond kernels and copies.
struct TraceOptions {
  bool synchronization = true;  // waits of the host for the GPU
};

// A part of tracing that had to be left out; the rest runs.
struct Limitation {
  std::string feature;  // "launch_count"
  Availability why;
};

// GPU activity. The collector's thread calls drain() every few tens of milliseconds, and once
// more after stop(): the tracer decodes what has arrived since and submits it. `now_ns` and every
// time submitted are session time: nanoseconds since `session_start_ns` of the monotonic clock.
class Tracer {
 public:
  virtual ~Tracer() = default;
  virtual Availability start(int64_t session_start_ns) = 0;
  virtual std::vector<Limitation> limitations() const { return {}; }  // known after start()
  virtual void stop() = 0;
  virtual void drain(int64_t now_ns, RowSink& sink) = 0;
  // Fills the fields of the ledger that only the tracer knows.
  virtual void account(format::Ledger& ledger) const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;  // "nvidia", "amd", "synthetic"
  // Opens the vendor's libraries when first called; cheap afterwards.
  virtual Availability health_available() = 0;
  virtual Availability trace_available() = 0;
  virtual base::Result<std::unique_ptr<HealthSource>> make_health_source() = 0;
  virtual base::Result<std::unique_ptr<Tracer>> make_tracer(const TraceOptions& options) = 0;
};

// registry.cpp: the one file that names vendors.
// A vendor's name gives its backend, null only where this build has none; "auto" (never
// synthetic) the first whose health is available, else null; "none" null. `why` is the health of
// the backend returned, or what stood in the way.
std::unique_ptr<Backend> make_backend(std::string_view name, Availability& why);
std::vector<std::string_view> backend_names();

}  // namespace gpufl::backend
