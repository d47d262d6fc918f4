// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cuda/cuda_driver.hpp"

// Hardware counters of ranges on their way from the thread that read them to the log, and what they
// came to.
namespace gpufl::backend {

// Of one context.
struct RangeReading {
  int64_t begin_ns = 0, end_ns = 0;   // monotonic clock
  int64_t thread = 0, inside_ns = 0;  // that opened the scope, and a time inside of it
  uint32_t device = 0;                // CUDA's number
  uint32_t context = 0;               // CUPTI's
  uint32_t pass = 0;
  std::string scope;
  std::vector<std::string> metrics;
  std::vector<double> values;    // in the metrics' order
  std::set<std::string> beside;  // RangeRequest's
};

class RangeReadings {
 public:
  // Any thread.
  void put(RangeReading reading);
  // The collector's thread.
  void drain(int64_t session_start_ns, DeviceNumbers& devices, RowSink& sink);

 private:
  std::mutex mutex_;
  std::vector<RangeReading> waiting_;
  std::set<std::pair<std::string, std::set<std::string>>> told_;  // the collector's thread
};

}  // namespace gpufl::backend
