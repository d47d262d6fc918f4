// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cuda/cuda_driver.hpp"

// Counters by instruction on their way from the thread that read them to the log, and what they
// came to.
namespace gpufl::backend {

// One metric of one instruction, since the counters were read last. Never zero.
struct SassValue {
  uint64_t module = 0;
  uint64_t pc = 0;
  uint32_t function = 0;  // places among the reading's names
  uint32_t metric = 0;
  uint64_t value = 0;
};

// Of one context.
struct SassReading {
  int64_t time_ns = 0;   // when it was read, monotonic clock
  uint32_t device = 0;   // CUDA's number
  uint32_t context = 0;  // CUPTI's
  std::vector<SassValue> values;
  std::vector<std::string> functions, metrics;
  uint64_t dropped = 0;  // values that CUPTI could not hand over
};

class SassReadings {
 public:
  // Any thread.
  void put(SassReading reading);
  void account(format::Ledger& ledger) const;
  // The collector's thread.
  void drain(int64_t session_start_ns, DeviceNumbers& devices, RowSink& sink);

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::vector<SassReading> waiting_;
  size_t waiting_values_ = 0;
  uint64_t values_ = 0, dropped_ = 0;
};

}  // namespace gpufl::backend
