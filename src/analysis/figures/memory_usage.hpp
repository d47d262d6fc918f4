// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/figures/transfers.hpp"
#include "analysis/math/figure.hpp"
#include "analysis/math/series.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"

// Memory that the program asked the vendor's API for, by device and kind. What it had before
// recording began is not in it, so the numbers are of what was recorded. What a framework's own
// allocator hands out of it is not seen.
namespace gpufl::analysis {

struct MemoryUsage {
  int64_t device = -1;
  MemoryKind kind = MemoryKind::Unknown;
  uint64_t allocations = 0, releases = 0;
  uint64_t unmatched_releases = 0;  // of memory whose allocation was not recorded
  int64_t allocated_bytes = 0;      // all allocations added up: the churn
  int64_t peak_bytes = 0, peak_ns = 0;
  int64_t end_bytes = 0;  // not released when the log ends
  uint64_t end_allocations = 0;
  double allocations_per_second = 0;
  Figure<int64_t> call_ns;  // what these calls took the host
  Series live_bytes;
};

// By device, then kind. Unknown where allocations were not recorded.
Figure<std::vector<MemoryUsage>> memory_usage(const SessionData& session,
                                              const AnalysisOptions& options);

}  // namespace gpufl::analysis
