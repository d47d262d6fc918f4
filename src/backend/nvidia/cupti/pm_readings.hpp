// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cuda/cuda_driver.hpp"
#include "base/clock.hpp"

// Samples of hardware counters on their way from the thread that read them to the log: placed on
// the session's clock, and without those that nobody wants.
namespace gpufl::backend {

struct PmSample {
  uint64_t begin = 0, end = 0;  // nanoseconds as the GPU counts them
  std::vector<double> values;
};

// Samples that followed one another without a gap.
struct PmReading {
  uint32_t device = 0;     // CUDA's number
  int64_t started_ns = 0;  // sampling; monotonic clock
  base::ClockAnchor read;  // after the last of them
  std::shared_ptr<const std::vector<std::string>> metrics;
  std::vector<PmSample> samples;
};

class PmReadings {
 public:
  // `clock` and `gate` may be null; the gate outlives it.
  PmReadings(bool is_scope_only, std::shared_ptr<const DeviceClock> clock, const CaptureGate* gate,
             int64_t session_start_ns);

  // Any thread.
  void put(PmReading reading);
  void note_dropped(uint64_t samples);
  void note_full_buffer();
  void note_gpu();  // one is to be sampled
  void account(format::Ledger& ledger) const;

  // The collector's thread. `is_over`: sampling has ended, and all was put.
  void gather(bool is_over);
  void drain(DeviceNumbers& devices, RowSink& sink);

 private:
  // What a session has had any of.
  enum class Seen : uint8_t { Gpu, Sample, OutsideOfScopes, Kept };
  struct Span {
    int64_t begin_ns, end_ns;  // monotonic clock
  };
  std::optional<Span> place(const PmReading& reading, int64_t device) const;
  bool is_wanted(int64_t begin_ns, int64_t end_ns, RowSink& sink) const;
  void add(const PmReading& reading, Span span, int64_t device, RowSink& sink, format::Batch& rows);
  void tell_what_lacks(RowSink& sink) const;
  static std::atomic<int64_t>& session_with(Seen what);  // the latest, by its start
  void note(Seen what) const;
  bool has(Seen what) const;

  const bool is_scope_only_;
  const std::shared_ptr<const DeviceClock> clock_;
  const CaptureGate* const gate_;
  const int64_t session_start_ns_;

  mutable std::mutex mutex_;  // guards what follows
  std::vector<PmReading> waiting_;
  size_t waiting_values_ = 0;
  uint64_t kept_ = 0, dropped_ = 0, full_buffers_ = 0;

  // The collector's thread.
  std::vector<PmReading> gathered_;
  bool is_over_ = false;
  bool has_told_of_clock_ = false;
};

}  // namespace gpufl::backend
