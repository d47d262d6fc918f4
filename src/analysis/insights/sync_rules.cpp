// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/figures/latency.hpp"
#include "analysis/insights/loop_syncs.hpp"
#include "analysis/insights/rules.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

Severity sync_severity(double share, const Thresholds& thresholds) {
  if (share > thresholds.sync_attribution.high_share) return Severity::High;
  return share > thresholds.sync_attribution.medium_share ? Severity::Medium : Severity::Low;
}

std::string longest_text(const SessionView& view, const SyncLine& line) {
  int64_t longest_ns = 0;
  for (const uint32_t row : line.waits) {
    longest_ns = std::max(longest_ns, view.tables.waits.duration[row]);
  }
  return fmt::format("the longest call took {}", text::duration(static_cast<double>(longest_ns)));
}

void add_scope(const SessionView& view, const SyncLine& line, Evidence& evidence) {
  evidence.scope = view.scope_of(view.tables.waits, line.waits.front());
  evidence.start_ns = view.tables.waits.start[line.waits.front()];
  evidence.end_ns = view.tables.waits.end(line.waits.back());
}

// All lines from `first` on, which are too many to tell one by one.
Insight other_lines(const SessionView& view, const std::vector<SyncLine>& lines, size_t first) {
  uint64_t waits = 0;
  int64_t blocked_ns = 0;
  Insight insight;
  for (size_t i = first; i < lines.size(); ++i) {
    waits += lines[i].waits.size();
    blocked_ns = saturating_add(blocked_ns, lines[i].blocked_ns);
  }
  const double blocked = static_cast<double>(blocked_ns);
  const double share = blocked / static_cast<double>(view.wall_ns);
  insight.title = fmt::format("Waits × {} at {} · {} ({} of {})", waits,
                              text::plural(lines.size() - first, "more line"),
                              text::brief_duration(blocked), text::percent(share), view.whole);
  insight.detail =
      fmt::format("{} blocked across {} at lines that wait less than those listed separately",
                  text::brief_duration(blocked), text::plural(waits, "call"));
  const SyncLine& most = lines[first];
  insight.evidence.push_back(at_site(
      *most.site, fmt::format("the most of these: {}, {}", text::plural(most.waits.size(), "wait"),
                              text::duration(static_cast<double>(most.blocked_ns)))));
  add_scope(view, most, insight.evidence.back());
  return insight;
}

// Those that have an insight of their own, which save most.
std::vector<LoopSync> told_loop_syncs(const SessionView& view) {
  std::vector<LoopSync> loops = estimated_loop_syncs(view);
  std::stable_sort(loops.begin(), loops.end(),
                   [](const LoopSync& a, const LoopSync& b) { return a.gain_ns > b.gain_ns; });
  if (loops.size() > max_per_rule(view.thresholds)) loops.resize(max_per_rule(view.thresholds));
  return loops;
}

// Lines of which no other rule says how long they wait.
std::vector<SyncLine> lines_to_tell(const SessionView& view) {
  std::set<uint32_t> told;  // by their first wait
  for (const LoopSync& loop : told_loop_syncs(view)) told.insert(loop.line.waits.front());
  std::vector<SyncLine> lines = sync_lines(view);
  std::erase_if(lines, [&](const SyncLine& line) { return told.contains(line.waits.front()); });
  return lines;
}

// What is the same whatever waits.
void finish_sync(Insight& insight, Severity severity) {
  insight.severity = severity;
  insight.advice = "Wait only where the host needs a result. There, queue other work first.";
  insight.estimate =
      "None: a wait costs nothing while the GPU works. The insights on waits in a loop and on "
      "pauses "
      "of the GPU say how much idle time they cause.";
  insight.confidence = Confidence::High;
}

}  // namespace

void find_sync_attribution(const SessionView& view, std::vector<Insight>& found) {
  const std::vector<SyncLine> lines = lines_to_tell(view);
  const size_t told = std::min(lines.size(), max_per_rule(view.thresholds));
  for (size_t i = 0; i < told; ++i) {
    const SyncLine& line = lines[i];
    const double blocked = static_cast<double>(line.blocked_ns);
    const double share = blocked / static_cast<double>(view.wall_ns);
    const uint64_t count = line.waits.size();
    Insight insight;
    finish_sync(insight, sync_severity(share, view.thresholds));
    const std::string what = fmt::format("{} × {} @ {}", wait_name(view.tables.waits, line), count,
                                         short_line(*line.site));
    if (line.holds_stream) {
      insight.title = what + " · holds up a stream, not the host";
      insight.detail =
          fmt::format("{} at {}: work of the stream waits for an event, and the host continues",
                      text::plural(count, "call"), line.site->text);
    } else {
      insight.title = fmt::format("{} · {} ({} of {})", what, text::brief_duration(blocked),
                                  text::percent(share), view.whole);
      insight.detail = fmt::format("{} blocked across {} at {}", text::brief_duration(blocked),
                                   text::plural(count, "call"), line.site->text);
    }
    insight.evidence.push_back(at_site(*line.site, longest_text(view, line)));
    add_scope(view, line, insight.evidence.back());
    found.push_back(std::move(insight));
  }
  if (told == lines.size()) return;
  found.push_back(other_lines(view, lines, told));
  finish_sync(found.back(), Severity::Low);  // each of them is less than any that is told
}

void find_in_loop_sync(const SessionView& view, std::vector<Insight>& found) {
  for (const LoopSync& loop : told_loop_syncs(view)) {
    const double blocked = static_cast<double>(loop.line.blocked_ns);
    const uint64_t count = loop.line.waits.size();
    Insight insight;
    set_gain(insight, loop.gain_ns, view.wall_ns, view.thresholds);
    insight.severity = sync_severity(blocked / static_cast<double>(view.wall_ns), view.thresholds);
    insight.title = fmt::format("In-loop sync × {} — likely blocking GPU pipelining", count);
    insight.detail = fmt::format("{} blocked across {} calls at {}", text::brief_duration(blocked),
                                 count, loop.line.site->text);
    insight.advice =
        "Move the sync outside the loop or capture the loop body into a CUDA graph (replay "
        "amortizes launch overhead).";
    const auto loop_ns = static_cast<double>(loop.span.length());
    const auto idle_ns = static_cast<double>(loop.idle_ns);
    insight.estimate = fmt::format(
        "Without the wait, the loop takes as long as the busier of host and GPU. Of {}, the host "
        "was blocked for {}, and the GPU was idle for {} because no work was queued, minus {} for "
        "each of these pauses, which queued work has too{}.{}",
        text::duration_among(loop_ns, {loop_ns, blocked, idle_ns}),
        text::duration_among(blocked, {loop_ns, blocked, idle_ns}),
        text::duration_among(idle_ns, {loop_ns, blocked, idle_ns}),
        text::duration(loop.queued_pause_ns),
        loop.has_other_waits ? ", counting only what follows this wait, because other lines wait "
                               "in the same loop"
                             : "",
        recording_text(view));
    insight.confidence = loop.has_other_waits ? Confidence::Medium : Confidence::High;
    insight.evidence.push_back(at_site(
        *loop.line.site,
        fmt::format("{} launches between two of them (median), {}, {} of {} blocked",
                    loop.median_launches, longest_text(view, loop.line),
                    text::percent(blocked / static_cast<double>(view.wall_ns)), view.whole)));
    insight.evidence.back().device = loop.device;
    add_scope(view, loop.line, insight.evidence.back());
    found.push_back(std::move(insight));
  }
}

}  // namespace gpufl::analysis
