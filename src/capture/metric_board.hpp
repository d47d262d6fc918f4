// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "format/log_writer.hpp"

// What live views and exporters show of a session. Plain data.
namespace gpufl::capture {

// The newest value of everything sampled, for live views and exporters.
struct MetricBoard {
  int64_t time_ns = 0;  // session time of the newest sample
  std::vector<backend::DeviceFacts> devices;
  std::vector<backend::MetricValue> device_values;
  std::vector<backend::MetricValue> host_values;  // .device unused
  std::vector<backend::ProcessUse> processes;
  std::vector<backend::DeviceEvent> recent_events;             // the last 64
  std::vector<std::pair<std::string, uint64_t>> event_counts;  // "xid" -> 3 since the start
  uint64_t samples_taken = 0, samples_missed = 0;
  format::WriterCounts log;  // what the log has taken and dropped
};

}  // namespace gpufl::capture
