// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cuda/cuda_driver.hpp"
#include "backend/nvidia/globaltimer/globaltimer_fit.hpp"
#include "backend/nvidia/globaltimer/globaltimer_probe.hpp"

// %globaltimer of each GPU on the monotonic clock. Readings of the probe are tied to it twice: by
// the host's own clock around each, and by CUPTI's times of the probe's kernel, which are those
// that the log has of all kernels; these are preferred. Any thread; measure() waits for one reading
// at most, the rest for a moment.
namespace gpufl::backend {

class GlobaltimerClock final : public DeviceClock, public OwnKernelListener {
 public:
  explicit GlobaltimerClock(SessionDevices devices) : session_devices_(std::move(devices)) {}

  base::Result<int64_t> measure(int64_t max_age_ns) override;
  bool awaits_records(int64_t device) const override;
  std::optional<DeviceInterval> place(int64_t device, uint64_t first, uint64_t last) const override;
  std::optional<uint64_t> stamp_at(int64_t device, int64_t monotonic_ns) const override;
  void on_own_kernel(int64_t device, int64_t called_ns, int64_t begin_ns, int64_t end_ns) override;

 private:
  struct Device {
    GlobaltimerFit by_kernels, by_host;
    std::deque<GlobaltimerReading> unrecorded;  // CUPTI has not told of their kernels yet
    int64_t tick_ns = 0;
    int64_t measured_ns = 0;  // the newest
  };

  bool is_younger(int64_t device, int64_t max_age_ns) const;
  int64_t number_of(int ordinal);

  const SessionDevices session_devices_;
  std::vector<int64_t> numbers_;  // by CUDA's; the probe's turn guards it
  mutable std::mutex mutex_;      // for a moment only; guards what follows
  std::map<int64_t, Device> devices_;
};

}  // namespace gpufl::backend
