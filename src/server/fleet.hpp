// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

// GPUs as a server for many machines knows them beyond the sessions that it has: their readings are
// kept by themselves. A server of one folder has none of it. Any thread.
namespace gpufl::server {

struct FleetDevice {
  std::string id;  // the server's own
  std::string host, uuid, name;
  int64_t seen_ns = 0;  // since 1970: when something of it came last
  int64_t last_ns = 0;  // its newest reading; 0: there is none
};

struct FleetQuestion {
  std::string device;                // id
  int64_t from_s = 0, to_s = 0;      // since 1970
  size_t points = 0;                 // of a series, at the most
  std::vector<std::string> metrics;  // empty: all
};

// What was read while one step lasted.
struct FleetPoint {
  uint32_t step = 0;
  uint64_t count = 0;
  int64_t least = 0, most = 0;
  double mean = 0;
};

struct FleetSeries {
  std::string metric;
  int64_t index = 0;
  std::vector<FleetPoint> points;  // in order of time
};

struct FleetHealth {
  FleetDevice device;
  int64_t level_s = 0;  // how finely it was kept
  int64_t from_s = 0;   // where the first step begins
  int64_t step_s = 0;
  std::vector<FleetSeries> series;
  uint64_t series_left_out = 0;
};

// Readings so far, for the server's own figures.
struct FleetCounts {
  uint64_t windows = 0, readings = 0, dropped = 0, failures = 0;
};

class Fleet {
 public:
  Fleet() = default;
  virtual ~Fleet() = default;
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // By host and uuid.
  virtual base::Result<std::vector<FleetDevice>> devices() = 0;
  // NotFound: there is no such device.
  virtual base::Result<FleetHealth> health(const FleetQuestion& question) = 0;
  virtual FleetCounts counts() const = 0;
};

}  // namespace gpufl::server
