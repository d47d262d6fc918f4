// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/warp_figures.hpp"

#include <algorithm>
#include <utility>

#include "analysis/code/kernel_name.hpp"
#include "analysis/math/saturating.hpp"
#include "analysis/session/selection.hpp"
#include "analysis/warp/kernel_join.hpp"
#include "analysis/warp/what_if.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::analysis {
namespace {

Figure<WarpKernel> joined_to(const WarpCapture& capture, const Tables& tables, uint32_t row) {
  if (capture.launch.correlation == 0) {
    return Unknown{"the capture is not joined to a kernel",
                   "record the launch in a session of the engine Trace"};
  }
  if (row == kNoRow) return Unknown{"the session has no record of its kernel", ""};
  const Kernels& kernels = tables.kernels;
  WarpKernel kernel{row, kernels.start[row], kernels.duration[row]};
  if (!capture.launch.error_ns) return kernel;  // lengths only: it has no place
  const int64_t error = *capture.launch.error_ns;
  for (const WarpSpan& span : capture.spans) {
    const int64_t beyond = std::max(saturating_subtract(kernels.start[row], span.start),
                                    saturating_subtract(span.end, kernels.end(row)));
    if (beyond <= error) continue;
    kernel.outside += 1;
    kernel.worst_ns = std::max(kernel.worst_ns, beyond);
  }
  return kernel;
}

// What the critical path would be shorter by without the bubbles of all groups.
double bubble_gain(const WarpCapture& capture, const CriticalPath& path) {
  const bool has_any = std::any_of(path.parts.begin(), path.parts.end(), [](const PathPart& part) {
    return part.event == PathPart::kBetween;
  });
  if (!has_any) return 0;
  const WhatIf without{.has_no_bubbles = true};
  const double length = lengths_if(capture, {&without, 1})[0];
  return std::max(0.0, 1 - length / static_cast<double>(path.length_ns));
}

}  // namespace

std::string WarpFigures::event_name(uint32_t event) const {
  return event == PathPart::kBetween ? "(between events)" : events[event].name;
}

bool WarpFigures::has_losses() const {
  return !has_line || launch.dropped.value_or(0) > 0 || launch.full_lanes > 0 || unmatched > 0 ||
         !launch.problems.empty() || launch.problems_left_out > 0;
}

std::string WarpFigures::group_names(const std::vector<uint32_t>& chosen) const {
  constexpr size_t kMaxNames = 6;
  const size_t named = chosen.size() > kMaxNames ? kMaxNames - 1 : chosen.size();
  std::string names;
  for (size_t i = 0; i < named; ++i) {
    const bool is_last = i + 1 == chosen.size();
    if (i > 0) names += is_last ? " and " : ", ";
    names += group_name(chosen[i]);
  }
  if (named < chosen.size()) names += " and " + std::to_string(chosen.size() - named) + " more";
  return names;
}

WarpFigures figures_of(const WarpCapture& capture) {
  WarpFigures figures;
  figures.launch = capture.launch;
  figures.has_line = capture.has_line;
  if (!capture.launch.kernel.empty()) {
    figures.kernel = short_kernel_name(symbols::demangle(capture.launch.kernel));
  }
  figures.events = capture.events;
  figures.groups = capture.groups;
  figures.extent_ns = capture.extent.length();
  figures.span_error_ns = capture.span_error_ns();
  capture.for_each_block([&](size_t, size_t) { figures.blocks += 1; });
  for (const WarpSpan& span : capture.spans) {
    (span.is_range()                              ? figures.spans
     : span.ending == format::WarpEnding::Instant ? figures.instants
                                                  : figures.unmatched) += 1;
  }
  figures.times = group_times(capture);
  figures.path = critical_path(capture);
  figures.bottleneck = find_bottleneck(capture, figures.times, figures.path);
  figures.bubble_gain = bubble_gain(capture, figures.path);
  figures.steady = steady_states(capture);
  figures.balance = sm_balance(capture);
  return figures;
}

std::vector<WarpFigures> warp_figures(const SessionData& session, const AnalysisOptions& options) {
  const Tables& tables = session.tables;
  const Selection selection(tables, options);
  const KernelJoin join(tables);
  std::vector<WarpFigures> all;
  for_each_capture(tables, [&](const WarpCapture& capture) {
    Figure<WarpKernel> joined = joined_to(capture, tables, join.find(capture.launch));
    const bool is_chosen = joined ? selection.includes(tables.kernels, joined->row)
                                  : options.scope.empty() &&
                                        selection.has_device(capture.launch.device) &&
                                        selection.has_window(capture.launch.time_ns);
    if (!is_chosen) return;
    WarpFigures figures = figures_of(capture);
    if (joined) {
      figures.kernel = short_kernel_name(symbols::demangle(tables.kernel_name(joined->row)));
    }
    figures.joined = std::move(joined);
    all.push_back(std::move(figures));
  });
  return all;
}

}  // namespace gpufl::analysis
