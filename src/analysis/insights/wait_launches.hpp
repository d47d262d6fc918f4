// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/insights/loop_syncs.hpp"
#include "analysis/insights/session_view.hpp"
#include "analysis/math/figure.hpp"
#include "analysis/math/intervals.hpp"

// What lines wait for: the kernels that the thread launched since its wait before. The wait before
// is any wait of the host, whatever its line and whether it has a stack; before a wait of a stream
// it is any wait. What was launched before a selection's range counts too. Takes time linear in the
// kernels, and no memory for each of them.
namespace gpufl::analysis {

struct LaunchedKernel {
  uint32_t name = 0;   // of Tables::names
  uint64_t count = 0;  // how often it was launched; each node of a graph counts
  int64_t gpu_ns = 0;
  bool operator==(const LaunchedKernel&) const = default;
};

struct LaunchedWork {
  std::vector<LaunchedKernel> kernels;  // most time on the GPU first
  uint64_t other_kernels = 0;           // names that are beyond the limit,
  LaunchedKernel others;                // and their sums
  uint64_t graphs = 0;                  // launches of graphs that were recorded whole
};

// One of a line's waits.
struct LineWait {
  Interval span;
  std::optional<Interval> before;  // the thread's wait before; none: it had not waited
};

struct LineLaunches {
  LineWait typical, longest;  // typical: by its duration in the middle of all
  // Over all waits of the line. Unknown where no thread or no time of a launch is known.
  Figure<LaunchedWork> launched;
};

struct WaitLaunches {
  std::vector<LineLaunches> lines;    // as those that were asked about
  uint64_t kernels_without_call = 0;  // whose thread or launch the log does not tell: in no line
};

// `lines`: of sync_lines(). `most`: kernels of each line.
WaitLaunches wait_launches(const SessionView& view, const std::vector<SyncLine>& lines,
                           size_t most);

}  // namespace gpufl::analysis
