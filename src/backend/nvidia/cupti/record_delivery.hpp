// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cupti/activity_buffers.hpp"
#include "backend/nvidia/cupti/activity_decoder.hpp"
#include "backend/nvidia/cupti/activity_kinds.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"

// CUPTI's records on their way to a tracer's decoder: registers for them, has CUPTI make them,
// flushes, and keeps account of what was handed over. One thread at a time; one object at a time
// is open in a process.
namespace gpufl::backend {

class RecordDelivery {
 public:
  // Whether nobody else has registered for CUPTI's records, as far as can be told: registering
  // would take them away. `is_subscribed`: CUPTI's callbacks are ours.
  static bool may_register(const CuptiApi& api, bool is_subscribed);
  // CUPTI is, or is about to be, finalised.
  static void on_finalize();

  // Not available: nothing is recorded, and nothing is left behind. `left_out` as in ActivityKinds.
  Availability open(const CuptiApi& api, const TraceOptions& options, int64_t session_start_ns,
                    std::vector<Limitation>& left_out);
  const ClockOrigins& clock_origins() const { return clock_origins_; }

  void flush(const CuptiApi& api) { api.cuptiActivityFlushAll(0); }
  // What CUPTI has handed over by now; once more only after decode().
  void gather();
  size_t gathered_bytes() const;
  // One of so many portions of what is in hand.
  void decode(const CuptiApi& api, uint64_t portions, int64_t latest_ns, ActivityDecoder& decoder,
              RowSink& sink);
  void refill();  // after decode()
  // Kernels that still run when recording ends.
  enum class Running : uint8_t {
    None,    // there are none
    Forced,  // their records come without times
    Left,    // theirs do not come: see QuietGpu
  };
  // Nothing is recorded from here on; the last gather() and decode() get the rest. False: another
  // tool has taken the records, and they are left to it. `last_launch_ns` (monotonic clock): when
  // the program last launched something.
  bool close(const CuptiApi& api, int64_t last_launch_ns, Running running);
  void release();  // the memory that CUPTI does not hold

  uint64_t delivered() const;  // buffers, since the process began
  uint64_t refusals() const;   // CUPTI found no memory for its records
  uint64_t dropped() const { return dropped_; }
  void account(format::Ledger& ledger) const;

 private:
  ActivityKinds kinds_;
  ClockOrigins clock_origins_{0};
  std::vector<ActivityBuffers::Full> full_;
  ActivityBuffers::Counts before_;
  int64_t opened_ns_ = 0;           // monotonic clock
  uint64_t taken_ = 0;              // buffers, likewise since the process began
  uint64_t unforced_ = UINT64_MAX;  // those after them were delivered by force
  uint64_t dropped_ = 0;
  bool drops_known_ = true;
};

}  // namespace gpufl::backend
