// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/launch_phases.hpp"

#include <algorithm>

#include "analysis/figures/recorded_time.hpp"

namespace gpufl::analysis {

LaunchBound launch_phases(const SessionView& view, const GapExplainer& explainer, int64_t device) {
  const auto& limits = view.thresholds.launch_bound;
  LaunchBound result;
  LaunchPhase phase;
  const double left_of_each_ns = limits.graph_node_gap_us * 1e3 + view.recording_ns_per_call();
  const auto end_phase = [&] {
    const double length = static_cast<double>(phase.span.length());
    const double idle = static_cast<double>(phase.idle_ns);
    if (phase.launches > 0 && static_cast<double>(phase.launches) >= limits.min_kernels &&
        idle >= limits.min_idle_share * length) {
      const double left =
          static_cast<double>(phase.launches) * left_of_each_ns + limits.graph_launch_us * 1e3;
      result.launches += phase.launches;
      result.idle_ns += phase.idle_ns;
      result.span_ns += phase.span.length();
      result.gain_ns += std::max(0.0, idle - left);
      result.phases.push_back(phase);
    }
    phase = {};
  };
  const Intervals unrecorded = unrecorded_spans(view.session);
  for (const Gap& gap : view.idle(device).gaps()) {
    // Nobody knows what was launched meanwhile.
    if (phase.launches > 0 && !clip(unrecorded, {phase.span.end, gap.span.start}).empty()) {
      end_phase();
    }
    const ExplainedGap explained = explainer.explain(gap);
    // Pauses that launching is not to blame for are none of a phase's; short ones, between kernels
    // that were queued, do not end it either.
    if (explained.cause == GapCause::Queued || explained.cause == GapCause::Graph) continue;
    if (explained.cause != GapCause::LaunchBound) {
      end_phase();
      continue;
    }
    if (phase.launches == 0) {
      phase.span.start = gap.span.start;
      phase.first_stack = explained.stack;
      phase.first = gap.after;
    }
    phase.span.end = gap.span.end;
    phase.idle_ns += gap.span.length();
    ++phase.launches;
  }
  end_phase();
  return result;
}

bool is_launch_bound(const SessionView& view, const LaunchBound& bound) {
  return !bound.phases.empty() && bound.gain_ns >= view.thresholds.launch_bound.min_share *
                                                       static_cast<double>(view.wall_ns);
}

}  // namespace gpufl::analysis
