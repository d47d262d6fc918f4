// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "store/health_series.hpp"

// What a window of a session says of the health of GPUs, on the wall clock.
namespace gpufl::store {

struct DeviceReadings {
  std::string host, uuid;  // where the log has no uuid, "device-N"
  std::string name;
  int64_t last_ms = 0;                      // the newest reading; 0: there is none
  std::map<int64_t, HealthReadings> hours;  // since 1970, each of buckets of a second
};

struct WindowReadings {
  std::vector<DeviceReadings> devices;
  uint64_t readings = 0;
  // Readings without a device, of a time that cannot be, or beyond the bounds.
  uint64_t dropped = 0;
};

struct WindowBounds {
  size_t buckets = 1'000'000;  // 40 bytes each while a window is read
  size_t hours = 200;          // that a device's readings may lie in
  size_t series = 1024;        // of a device
};

// Reads it twice: readings may stand before the line that says what their time is. `now_ms`:
// readings of more than a day later are dropped.
base::Result<WindowReadings> read_health(const std::filesystem::path& window, int64_t now_ms,
                                         const WindowBounds& bounds = {});

}  // namespace gpufl::store
