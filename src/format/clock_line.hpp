// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.hpp"

// A `clock` line: clocks read at one moment, so that readers can tie the session's to others.
namespace gpufl::format {

struct ClockLine {
  int64_t time_ns = 0;            // session time
  int64_t wall_ns = 0;            // since 1970
  std::optional<int64_t> gpu_ns;  // the clock in which a vendor's records are written
  int64_t error_ns = 0;           // none of them is further off than this

  // Nanoseconds since 1970 do not fit a double: absolute times are strings on disk.
  base::Json to_json() const {
    base::Json line = base::Json::object();
    line.set("time", time_ns).set("wall", std::to_string(wall_ns));
    if (gpu_ns) line.set("gpu", std::to_string(*gpu_ns));
    line.set("error", error_ns);
    return line;
  }
};

}  // namespace gpufl::format
