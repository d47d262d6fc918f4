// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/insights/kernel_use.hpp"
#include "analysis/insights/rules.hpp"
#include "analysis/insights/words.hpp"

namespace gpufl::analysis {
namespace {

// The longest capture of a kernel, and what all launches of that kernel took.
struct ProfiledKernel {
  const WarpFigures* capture = nullptr;
  double time_ns = 0;
};

std::vector<ProfiledKernel> profiled_kernels(const SessionView& view) {
  const Kernels& launches = view.tables.kernels;
  // By the kernel's name in the log where the capture is joined to a launch, else by what it says.
  std::map<std::pair<int64_t, std::string>, ProfiledKernel> by_name;
  for (const WarpFigures& capture : view.overview.warps) {
    if (!capture.bottleneck) continue;
    int64_t name = -1;
    if (capture.joined) name = view.tables.config(launches.config[capture.joined->row]).name;
    ProfiledKernel& kernel = by_name[{name, capture.kernel}];
    if (kernel.capture == nullptr || kernel.capture->extent_ns < capture.extent_ns) {
      kernel.capture = &capture;
    }
    if (!capture.joined) kernel.time_ns += static_cast<double>(capture.extent_ns);
  }
  const std::vector<LongestTime> times = times_by_name(view);
  std::vector<ProfiledKernel> kernels;
  for (auto& [key, kernel] : by_name) {
    if (key.first >= 0) kernel.time_ns = times[static_cast<size_t>(key.first)].time_ns;
    kernels.push_back(kernel);
  }
  return kernels;
}

std::string label_of(const WarpFigures& capture) {
  return capture.kernel.empty() ? fmt::format("launch {}", capture.launch.launch) : capture.kernel;
}

void add_evidence(const WarpFigures& capture, Insight& insight) {
  Evidence evidence;
  evidence.text =
      fmt::format("its longest capture, {}", words::time(static_cast<double>(capture.extent_ns)));
  evidence.kernel = capture.kernel;
  if (capture.launch.device >= 0) evidence.device = capture.launch.device;
  if (capture.launch.error_ns) {
    evidence.start_ns = capture.launch.time_ns;
    evidence.end_ns = saturating_add(capture.launch.time_ns, capture.launch.duration_ns);
  }
  insight.evidence.push_back(std::move(evidence));
}

// The largest share of its time in which another group works: as short the kernel could become.
double next_busiest(const WarpFigures& capture, uint32_t limiting) {
  double most = 0;
  for (const WarpGroupFigures& group : capture.times.groups) {
    if (group.group != limiting) most = std::max(most, group.share(group.busy_ns));
  }
  return most;
}

}  // namespace

void find_warp_group_bound(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.warp_group_bound;
  for (const ProfiledKernel& kernel : profiled_kernels(view)) {
    const WarpFigures& capture = *kernel.capture;
    const WarpBottleneck& bottleneck = *capture.bottleneck;
    const double share = kernel.time_ns / static_cast<double>(view.wall_ns);
    if (!bottleneck.is_by_path || capture.groups.size() < 2 || share < limits.min_share ||
        bottleneck.share < limits.min_path_share) {
      continue;
    }
    const double next = next_busiest(capture, bottleneck.group);
    Insight insight;
    set_gain(insight, kernel.time_ns * std::max(0.0, bottleneck.share - next), view.wall_ns,
             view.thresholds);
    const std::string& group = capture.group_name(bottleneck.group);
    insight.title = fmt::format("{} is limited by its group {} · {} of the critical path",
                                label_of(capture), group, words::percent(bottleneck.share));
    insight.detail = fmt::format(
        "{} of the critical path is its {}; the next busiest group works for {} of its time",
        words::percent(bottleneck.event_share), capture.event_name(bottleneck.event),
        words::percent(next));
    insight.advice = fmt::format(
        "Make {} do less, or give a part of its work to a group that waits: other groups have "
        "nothing to gain. More stages help only where both take turns.",
        group);
    insight.estimate =
        "The kernel's time, times the share of the critical path of this group beyond the share of "
        "time in which the next busiest works.";
    insight.confidence = Confidence::Medium;
    add_evidence(capture, insight);
    found.push_back(std::move(insight));
  }
}

void find_warp_bubbles(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.warp_bubbles;
  for (const ProfiledKernel& kernel : profiled_kernels(view)) {
    const WarpFigures& capture = *kernel.capture;
    const double share = kernel.time_ns / static_cast<double>(view.wall_ns);
    int64_t between_ns = 0, most_ns = 0;
    uint32_t group = 0;
    for (const PathPart& part : capture.path.parts) {
      if (part.event != PathPart::kBetween) continue;
      between_ns = saturating_add(between_ns, part.length_ns);
      if (part.length_ns > most_ns) {
        most_ns = part.length_ns;
        group = part.group;
      }
    }
    const double of_path = capture.path.share(between_ns);
    if (share < limits.min_share || of_path < limits.min_path_share) continue;
    Insight insight;
    set_gain(insight, kernel.time_ns * of_path, view.wall_ns, view.thresholds);
    insight.title = fmt::format("Bubbles in {} · {} of the critical path", label_of(capture),
                                words::percent(of_path));
    const WarpGroupFigures& figures = capture.times.groups[group];
    insight.detail = fmt::format(
        "no event is open; most of it in group {}, which is in bubbles for {} of its time",
        capture.group_name(group), words::percent(figures.share(figures.bubble_ns())));
    insight.advice =
        "Put events around what the group does there: code that nobody records looks the same. "
        "What remains is issue latency and loop overhead: unroll, or overlap it with the next "
        "iteration.";
    insight.estimate = "The kernel's time, times the bubbles' share of the critical path.";
    insight.confidence = Confidence::Low;
    add_evidence(capture, insight);
    found.push_back(std::move(insight));
  }
}

}  // namespace gpufl::analysis
