// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cuda/cuda_driver.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"
#include "backend/nvidia/cupti/pc_sampling_context.hpp"

// Windows of PC sampling on their way from the thread that took them to the log, and what they came
// to.
namespace gpufl::backend {

// What one context brought.
struct WindowRows {
  int64_t begin_ns = 0, end_ns = 0;  // monotonic clock
  int64_t cost_ns = 0;
  uint32_t device = 0;   // CUDA's number
  uint32_t context = 0;  // CUPTI's
  format::CoverageReason why = format::CoverageReason::Schedule;
  SampleWindow samples;
};

class SampleWindows {
 public:
  // Any thread. All of one window, and the longest that it held a launch.
  void put(std::vector<WindowRows> window, uint64_t longest_hold_ns);
  void skip();
  // The collector's thread.
  void drain(int64_t session_start_ns, DeviceNumbers& devices, RowSink& sink);
  // Any thread.
  void account(format::Ledger& ledger) const;
  uint64_t taken() const;
  uint64_t skipped() const;
  int64_t busy_ns() const;  // of the windows that have samples

 private:
  void add(WindowRows rows);

  mutable std::mutex mutex_;  // guards what follows
  std::vector<WindowRows> waiting_;
  size_t waiting_samples_ = 0;
  uint64_t taken_ = 0, skipped_ = 0, full_ = 0;
  uint64_t total_ = 0, dropped_ = 0, unlocated_ = 0;
  int64_t busy_ns_ = 0;
  uint64_t longest_hold_ns_ = 0;
};

}  // namespace gpufl::backend
