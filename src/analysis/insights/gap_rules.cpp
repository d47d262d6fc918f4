// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/insights/gap_causes.hpp"
#include "analysis/insights/launch_phases.hpp"
#include "analysis/insights/loop_syncs.hpp"
#include "analysis/insights/rules.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

// The line that pauses are of, or where there is none the scope.
struct GapPlace {
  std::string line, scope;
  auto operator<=>(const GapPlace&) const = default;
};
// Pauses of one cause at one place.
struct GapGroup {
  uint32_t stack = 0;
  uint64_t count = 0;
  int64_t total_ns = 0;
  Gap longest;
};
using GapParts = std::vector<std::pair<GapPlace, GapGroup>>;

std::string_view advice_for(GapCause cause) {
  switch (cause) {
    case GapCause::Wait:
      return "Queue the next work before waiting, or wait later: a blocked host launches nothing.";
    case GapCause::LaunchBound:
      return "Launch less often: capture the work into a CUDA graph, or fuse small kernels.";
    case GapCause::Copy:
      return "Combine small copies (see small_copies). For others, use pinned memory and an "
             "asynchronous copy on a separate stream, so that the host continues and kernels run "
             "meanwhile.";
    case GapCause::Call:
      return "Make these calls before the loop, or keep their results: allocating memory, loading "
             "modules and creating contexts block the thread that launches.";
    case GapCause::HostCode:
      return "Move that code to another thread, or run it for the next step while the GPU works "
             "on this one.";
    case GapCause::Queued:
      return "Check what the work depended on: events of other streams, another GPU, memory that "
             "the driver had to prepare.";
    case GapCause::Graph: return "Let independent nodes of the graph run in parallel.";
    case GapCause::Unknown: break;
  }
  return "Look at the timeline there. The session has no API call for the work after these "
         "pauses, so their cause is unknown.";
}

Confidence confidence_in(GapCause cause) {
  switch (cause) {
    case GapCause::Wait:
    case GapCause::LaunchBound:
    case GapCause::Call:
    case GapCause::HostCode: return Confidence::Medium;
    default: return Confidence::Low;
  }
}

// Lines that in_loop_sync tells of.
std::unordered_set<std::string> told_lines(const SessionView& view) {
  std::unordered_set<std::string> lines;
  for (const LoopSync& loop : find_loop_syncs(view)) lines.insert(loop.line.site->text);
  return lines;
}

Evidence evidence_of(const SessionView& view, int64_t device, const GapPlace& place,
                     const GapGroup& group, bool is_only) {
  const CodeSite& site = view.session.code.site(group.stack);
  const std::string_view where = site.text.empty() ? std::string_view("the longest") : site.text;
  Evidence evidence = at_site(
      site, is_only ? std::string(where)
                    : fmt::format("{}, {}: {}", text::plural(group.count, "pause"),
                                  text::duration(static_cast<double>(group.total_ns)), where));
  evidence.scope = place.scope;
  evidence.device = device;
  evidence.start_ns = group.longest.span.start;
  evidence.end_ns = group.longest.span.end;
  if (group.longest.after.kind == WorkKind::Kernel) {
    evidence.kernel = view.kernel_label(group.longest.after.row);
  }
  return evidence;
}

// The place with the most of them, and how many there are besides.
std::string where_text(const SessionView& view, const GapParts& parts) {
  const auto& [place, group] = parts.front();
  std::string text;
  if (!place.line.empty()) {
    text = fmt::format(" @ {}", short_line(view.session.code.site(group.stack)));
  } else if (!place.scope.empty()) {
    text = fmt::format(" in {}", place.scope);
  } else if (parts.size() > 1) {
    text = " in no scope";
  }
  if (parts.size() > 1) {
    text += fmt::format(" and {}", text::plural(parts.size() - 1, "other place"));
  }
  return text;
}

// One finding: what to do about it is the same at every place. `parts` is not empty.
void tell(const SessionView& view, int64_t device, GapCause cause, GapParts parts,
          std::vector<Insight>& found) {
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return a.second.total_ns > b.second.total_ns;
  });
  uint64_t count = 0;
  int64_t total_ns = 0, longest_ns = 0;
  for (const auto& [place, group] : parts) {
    count += group.count;
    total_ns += group.total_ns;
    longest_ns = std::max(longest_ns, group.longest.span.length());
  }
  const auto total = static_cast<double>(total_ns);
  Insight insight;
  // The next work's launch still takes its time.
  const bool has_call = cause != GapCause::Queued && cause != GapCause::Graph;
  const double left =
      static_cast<double>(count) * (view.thresholds.launch_bound.graph_node_gap_us * 1e3 +
                                    (has_call ? view.recording_ns_per_call() : 0));
  set_gain(insight, std::max(0.0, total - left), view.wall_ns, view.thresholds);
  insight.title = fmt::format("GPU {} idle × {}: {}{} · {} ({} of {})", device, count,
                              to_string(cause), where_text(view, parts), text::duration(total),
                              text::percent(total / static_cast<double>(view.wall_ns)), view.whole);
  insight.detail = fmt::format(
      "{} of at least {}, {} in total, the longest {}; before the next work the host was: {}",
      text::plural(count, "pause"), text::duration(view.thresholds.idle_gaps.min_gap_us * 1e3),
      text::duration(total), text::duration(static_cast<double>(longest_ns)), to_string(cause));
  insight.advice = advice_for(cause);
  insight.estimate = fmt::format(
      "The time of these pauses, without the time that starting the next work always takes.{}",
      has_call ? recording_text(view) : "");
  insight.confidence = confidence_in(cause);
  for (const auto& [place, group] : parts) {
    insight.evidence.push_back(evidence_of(view, device, place, group, parts.size() == 1));
  }
  found.push_back(std::move(insight));
}

}  // namespace

void find_idle_gaps(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.idle_gaps;
  const GapExplainer explainer(view);
  const std::unordered_set<std::string> told = told_lines(view);
  for (const DeviceBusy& device : view.overview.devices) {
    const bool is_told_elsewhere =
        is_launch_bound(view, launch_phases(view, explainer, device.device));
    std::map<GapCause, std::map<GapPlace, GapGroup>> causes;
    for (const Gap& gap : view.idle(device.device).gaps()) {
      if (static_cast<double>(gap.span.length()) < limits.min_gap_us * 1e3) continue;
      const ExplainedGap explained = explainer.explain(gap);
      if (explained.cause == GapCause::LaunchBound && is_told_elsewhere) continue;
      const CodeSite& site = view.session.code.site(explained.stack);
      if (explained.cause == GapCause::Wait && told.count(site.text) != 0) continue;
      const std::string& scope = view.scope_of(view.work(gap.after.kind), gap.after.row);
      GapGroup& group = causes[explained.cause][{site.text, site.text.empty() ? scope : ""}];
      group.stack = explained.stack;
      group.total_ns += gap.span.length();
      if (group.count++ == 0 || gap.span.length() > group.longest.span.length()) {
        group.longest = gap;
      }
    }
    for (const auto& [cause, groups] : causes) {
      GapParts parts;
      for (const auto& [place, group] : groups) {
        if (static_cast<double>(group.total_ns) >=
            limits.min_share * static_cast<double>(view.wall_ns)) {
          parts.emplace_back(place, group);
        }
      }
      if (!parts.empty()) tell(view, device.device, cause, std::move(parts), found);
    }
  }
}

}  // namespace gpufl::analysis
