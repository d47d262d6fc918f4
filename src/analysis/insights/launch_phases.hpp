// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/insights/gap_causes.hpp"
#include "analysis/insights/session_view.hpp"

// Phases in which the host launches kernels more slowly than the GPU runs them.
namespace gpufl::analysis {

struct LaunchPhase {
  Interval span;          // from the end of the work before its first pause to its last one's end
  uint64_t launches = 0;  // pieces of work that were waited for
  int64_t idle_ns = 0;
  uint32_t first_stack = 0;
  WorkRow first;  // the work that ended its first pause
};

struct LaunchBound {
  std::vector<LaunchPhase> phases;  // in order of time
  uint64_t launches = 0;
  int64_t idle_ns = 0, span_ns = 0;
  double gain_ns = 0;  // what replaying the same work as graphs would save
};
// Of one device: phases with at least launch_bound.min_kernels launches that were idle for
// launch_bound.min_idle_share of their time.
LaunchBound launch_phases(const SessionView& view, const GapExplainer& explainer, int64_t device);
// Whether it costs enough to be told of.
bool is_launch_bound(const SessionView& view, const LaunchBound& bound);

}  // namespace gpufl::analysis
