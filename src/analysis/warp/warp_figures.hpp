// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/math/figure.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"
#include "analysis/warp/bottleneck.hpp"
#include "analysis/warp/critical_path.hpp"
#include "analysis/warp/group_time.hpp"
#include "analysis/warp/sm_balance.hpp"
#include "analysis/warp/steady_state.hpp"

// Everything that reports tell of the inside of one profiled launch: plain data, made by
// warp_figures(), without its spans.
namespace gpufl::analysis {

// The kernel that the launch is, by its row, and whether the spans lie inside of it.
struct WarpKernel {
  uint32_t row = kNoRow;  // of Tables::kernels
  int64_t start_ns = 0, duration_ns = 0;
  uint64_t outside = 0;  // spans that begin or end outside of it, by more than the error
  int64_t worst_ns = 0;  // by how much the worst of them does
};

struct WarpFigures {
  format::WarpLaunch launch;
  bool has_line = false;
  std::string kernel;                 // its short name; empty: nobody knows
  std::vector<WarpEventName> events;  // what the indices below are of
  std::vector<WarpGroupName> groups;
  uint64_t spans = 0, instants = 0, unmatched = 0;
  uint64_t blocks = 0;  // that recorded something
  int64_t extent_ns = 0;
  double span_error_ns = 0;  // of one range's length
  Figure<WarpKernel> joined;
  GroupTimes times;
  CriticalPath path;
  std::optional<WarpBottleneck> bottleneck;  // none: nothing was recorded
  double bubble_gain = 0;  // of the critical path: what it would save if no group had bubbles
  std::vector<SteadyState> steady;
  Figure<SmBalance> balance;

  // Whether something that the kernel did may be missing here.
  bool has_losses() const;
  const std::string& group_name(uint32_t group) const { return groups[group].name; }
  std::string group_names(const std::vector<uint32_t>& groups) const;  // "a, b and c"
  std::string event_name(uint32_t event) const;  // "(between events)" of PathPart::kBetween
};

// Of every profiled launch that the options choose, in order of their numbers.
std::vector<WarpFigures> warp_figures(const SessionData& session,
                                      const AnalysisOptions& options = {});
// Of one; `joined` is left unknown.
WarpFigures figures_of(const WarpCapture& capture);

}  // namespace gpufl::analysis
