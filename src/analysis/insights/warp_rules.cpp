// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/insights/kernel_use.hpp"
#include "analysis/insights/rules.hpp"
#include "text/units.hpp"

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

void add_evidence(const SessionView& view, const WarpFigures& capture, Insight& insight) {
  Evidence evidence;
  evidence.text = fmt::format("its longest capture, {}",
                              text::duration(static_cast<double>(capture.extent_ns)));
  evidence.kernel = capture.kernel;
  if (capture.launch.device >= 0) evidence.device = capture.launch.device;
  if (capture.launch.error_ns) {
    evidence.start_ns = capture.launch.time_ns;
    evidence.end_ns = saturating_add(capture.launch.time_ns, capture.launch.duration_ns);
  } else if (capture.joined) {
    evidence.start_ns = view.tables.kernels.start[capture.joined->row];
    evidence.end_ns = view.tables.kernels.end(capture.joined->row);
  }
  insight.evidence.push_back(std::move(evidence));
}

// What is missing may be what mattered.
Confidence confidence_of(const WarpFigures& capture, Confidence of_complete) {
  return capture.has_losses() ? Confidence::Low : of_complete;
}

}  // namespace

void find_warp_group_bound(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.warp_group_bound;
  for (const ProfiledKernel& kernel : profiled_kernels(view)) {
    const WarpFigures& capture = *kernel.capture;
    const WarpBottleneck& bottleneck = *capture.bottleneck;
    const double share = kernel.time_ns / static_cast<double>(view.wall_ns);
    if (!bottleneck.is_by_path || bottleneck.groups.empty() || capture.groups.size() < 2 ||
        share < limits.min_share || bottleneck.share < limits.min_path_share) {
      continue;
    }
    const bool is_one = bottleneck.is_one();
    const std::string groups = capture.group_names(bottleneck.groups);
    Insight insight;
    insight.title = fmt::format("{} is limited by its {} {}{} · {} of the critical path",
                                label_of(capture), is_one ? "group" : "groups", groups,
                                is_one ? "" : " together", text::percent(bottleneck.share));
    insight.detail = fmt::format(
        "{} of the critical path is {} {}; making {} faster saves at most {} of the kernel's time",
        text::percent(bottleneck.event_share), is_one ? "its" : "their",
        capture.event_name(bottleneck.event), is_one ? "it" : "one of them",
        text::percent(*bottleneck.gain));
    if (*bottleneck.gain > bottleneck.error) {
      set_gain(insight, kernel.time_ns * *bottleneck.gain, view.wall_ns, view.thresholds);
      insight.estimate =
          "The kernel's time, minus its simulated time if this group took no time: then other "
          "groups are the limit.";
    } else {
      insight.detail += ", within the error of " + text::percent(bottleneck.error);
    }
    insight.advice =
        is_one ? fmt::format(
                     "Make {} do less, or give a part of its work to a group that waits. Making "
                     "other groups faster gains nothing. More stages help only if two groups take "
                     "turns.",
                     groups)
               : "As far as the records show, they take equally long: make each of them do less, "
                 "or give a part of their work to a group that waits.";
    insight.confidence = confidence_of(capture, Confidence::Medium);
    add_evidence(view, capture, insight);
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
    set_gain(insight, kernel.time_ns * std::min(of_path, capture.bubble_gain), view.wall_ns,
             view.thresholds);
    insight.title = fmt::format("Bubbles in {} · {} of the critical path", label_of(capture),
                                text::percent(of_path));
    const WarpGroupFigures& figures = capture.times.groups[group];
    insight.detail = fmt::format(
        "no event is open; most of this is in group {}, whose bubbles take {} of the time",
        capture.group_name(group), text::percent(figures.share(figures.bubble_ns())));
    insight.advice =
        "Put events around what the group does there, because code without events also counts as "
        "a bubble. The rest is issue latency and loop overhead: unroll, or overlap it with the "
        "next iteration.";
    insight.estimate =
        "The kernel's time, times the bubbles' share of the critical path; less if another path "
        "would then be the longest.";
    insight.confidence = Confidence::Low;
    add_evidence(view, capture, insight);
    found.push_back(std::move(insight));
  }
}

}  // namespace gpufl::analysis
