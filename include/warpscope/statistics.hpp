// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/trace.hpp>

namespace ws {

// Of the complete spans. Percentiles interpolate linearly between the two nearest ranks.
struct DurationStatistics {
  uint32_t block = 0;  // durations_by_block only
  uint32_t group = 0;
  uint32_t event_id = 0;
  uint64_t count = 0;
  uint64_t total_ns = 0;
  double mean_ns = 0;
  double median_ns = 0;
  double p90_ns = 0;
  double p99_ns = 0;
  uint64_t min_ns = 0;
  uint64_t max_ns = 0;
};
inline std::vector<DurationStatistics> durations_by_block(const Trace& trace);
inline std::vector<DurationStatistics> durations_by_group(const Trace& trace);
inline void print_durations(const Trace& trace, const std::vector<std::string>& event_names = {});

}  // namespace ws
