// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/columns.hpp"

// What a tracer is to record: beside kernels and copies, and in their place.
namespace gpufl::backend {

class CaptureGate;
class DeviceClock;
class OwnKernelListener;
class StackRecorder;

// What is open now and wants all that can be had. Any thread.
struct DeepDemand {
  std::atomic<int32_t> scopes{0};
  std::atomic<bool> window{false};

  bool is_any() const { return window.load(std::memory_order_relaxed) || has_scopes(); }
  bool has_scopes() const { return scopes.load(std::memory_order_relaxed) > 0; }
  // Why samples are taken now, as rows of `coverage` have it.
  format::CoverageReason why() const {
    if (window.load(std::memory_order_relaxed)) return format::CoverageReason::DeepWindow;
    return has_scopes() ? format::CoverageReason::DeepScope : format::CoverageReason::Schedule;
  }
};

// PC sampling beside the records: for a window the GPU is asked at regular intervals which
// instruction each scheduler is at, then it is left alone for a pause.
struct PcSamplingOptions {
  int period_exponent =
      0;  // a sample every 2^n cycles of a multiprocessor, 5 to 31; 0: our default
  int64_t window_ns = 5'000'000;
  int64_t pause_ns = 995'000'000;
  // While there is any, windows follow one another without a pause. Null: there never is.
  const DeepDemand* deep = nullptr;
};

// Counters by instruction in the place of the kernels' records: the vendor's library puts counting
// code into each kernel, and delivers nothing where it makes records as well. Launches are counted.
struct SassOptions {
  std::vector<std::string> metrics;  // by the vendor's names, and names of presets
};

// Hardware counters of the program's scopes, in the place of the kernels' records as well: beside
// them, what takes the kernels' times would be counted too. Launches are counted.
struct RangeOptions {
  std::vector<std::string> metrics;  // likewise
  int64_t least_ns = 2'000'000'000;  // for so long, scopes that are new are waited for
};

// Hardware counters over time, beside the records: the GPU writes their values down at an interval.
struct PmSamplingOptions {
  std::vector<std::string> metrics;  // likewise; all of them in one pass
  int64_t interval_ns = 100'000;
  uint32_t max_samples = 4096;  // that buffers hold between two reads
  bool scope_only = true;       // only those that begin or end in a scope of the program are kept
};

// What a tracer records beyond kernels and copies. What it points to outlives the tracer.
struct TraceOptions {
  bool synchronization = true;       // waits of the host for the GPU
  bool memory = false;               // allocations and releases
  bool graphs = false;               // the span and the topology of graph launches
  bool external_correlation = true;  // ids that a framework or the program pushes
  bool queue_times = false;          // when a kernel was queued and submitted
  bool call_records = false;         // calls and waits from the vendor's records, which costs
                                     // the program more than our own notes of them
  bool code = false;                 // images of the code that ran (RowSink::keep_code)
  std::optional<PcSamplingOptions> pc_sampling{};  // none: no samples are taken
  std::optional<SassOptions> sass{};               // none: kernels are recorded
  std::optional<RangeOptions> ranges{};            // likewise; never both
  std::optional<PmSamplingOptions> pm_sampling{};  // none: no counters over time
  StackRecorder* stacks = nullptr;                 // null: none
  CaptureGate* gate = nullptr;                     // null: everything is wanted
  OwnKernelListener* own_kernels = nullptr;        // set by the backend; null: nobody
  std::shared_ptr<DeviceClock> device_clock{};     // likewise; places what GPUs date themselves
  // Set when nobody wants the tracer any more: start() then refuses as soon as it can. Null: it is
  // wanted.
  const std::atomic<bool>* is_unwanted = nullptr;
  // Called when the vendor's driver has come up, possibly more than once, or is found to be up: an
  // exit handler that is registered then runs before the driver's own.
  void (*on_driver_up)() = nullptr;

  // Counters are in the place of the kernels' records.
  bool counts() const { return sass.has_value() || ranges.has_value(); }
  // In their place or beside them.
  bool has_counters() const { return counts() || pm_sampling.has_value(); }
  // There is an engine beside the records, or in their place: one at most.
  bool has_engine() const { return has_counters() || pc_sampling.has_value(); }
};

}  // namespace gpufl::backend
