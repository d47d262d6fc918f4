// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

// Exact figures of a set of values. Percentiles are of the nearest rank, so each is one of the
// values; the median of an even number is the mean of the two in the middle.
namespace gpufl::analysis {

struct Stats {
  uint64_t count = 0;
  int64_t total = 0, min = 0, max = 0;
  double mean = 0, median = 0;
  int64_t p90 = 0, p99 = 0;
};

// Reorders `values`. Linear time.
Stats stats_of(std::span<int64_t> values);
Stats stats_of(std::span<uint32_t> values);

}  // namespace gpufl::analysis
