// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/warp_figures.hpp"

#include <algorithm>
#include <utility>

#include "analysis/kernel_name.hpp"
#include "analysis/saturating.hpp"
#include "analysis/selection.hpp"
#include "analysis/warp/kernel_join.hpp"
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

WarpBottleneck by_path(const WarpFigures& figures) {
  const CriticalPath& path = figures.path;
  WarpBottleneck found;
  int64_t most = -1;
  for (uint32_t group = 0; group < figures.groups.size(); ++group) {
    const int64_t length = path.group_ns(group);
    if (length <= most) continue;
    most = length;
    found.group = group;
  }
  found.share = path.share(most);
  found.is_by_path = true;
  const auto part = std::find_if(path.parts.begin(), path.parts.end(),
                                 [&](const PathPart& each) { return each.group == found.group; });
  found.event = part->event;
  found.event_share = path.share(part->length_ns);
  return found;
}

WarpBottleneck by_busy_share(const WarpFigures& figures) {
  const auto& groups = figures.times.groups;
  const auto busiest = std::max_element(groups.begin(), groups.end(),
                                        [](const WarpGroupFigures& a, const WarpGroupFigures& b) {
                                          return a.share(a.busy_ns) < b.share(b.busy_ns);
                                        });
  WarpBottleneck found;
  found.group = busiest->group;
  found.share = busiest->share(busiest->busy_ns);
  found.event = PathPart::kBetween;
  for (const WarpEventFigures& event : busiest->events) {
    if (figures.events[event.event].is_wait) continue;
    found.event = event.event;
    found.event_share = busiest->share(event.duration_ns.total);
    break;
  }
  return found;
}

std::optional<WarpBottleneck> bottleneck_of(const WarpFigures& figures) {
  if (figures.path.length_ns == 0 || figures.path.parts.empty()) return std::nullopt;
  const bool is_joined = figures.groups.size() == 1 || figures.path.released > 0;
  return is_joined ? by_path(figures) : by_busy_share(figures);
}

}  // namespace

std::string WarpFigures::event_name(uint32_t event) const {
  return event == PathPart::kBetween ? "(between events)" : events[event].name;
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
  figures.bottleneck = bottleneck_of(figures);
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
