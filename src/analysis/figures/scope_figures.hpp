// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analysis/math/distribution.hpp"
#include "format/columns.hpp"

namespace gpufl::analysis {

// Figures of all scopes with the same path. Plain data.
struct ScopeFigures {
  Distribution duration_ns;  // of those whose end was recorded
  Distribution
      iteration_ns;     // benchmark scopes: count is iterations; min and max are of scopes' means
  uint64_t warmup = 0;  // iterations that ran before, in `<name>_warmup`
  uint64_t cut = 0;     // in duration_ns, but ended by their thread's end or by shutdown
  uint64_t lost = 0;    // not in duration_ns: their end was dropped
  uint64_t open = 0;    // not in duration_ns: open when the log ended
  double open_ns = 0;   // what the open ones had lasted until then
  int64_t first_start_ns = INT64_MAX;

  // One more scope: one whose end the log has, or one that was open when it ended.
  void add_ended(int64_t start_ns, int64_t duration, format::ScopeEnding ending, int64_t repeat,
                 int64_t warmup_count);
  void add_open(int64_t start_ns, int64_t lasted_ns);
};

}  // namespace gpufl::analysis
