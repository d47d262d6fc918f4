// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/group_time.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <unordered_map>

#include "analysis/math/saturating.hpp"

namespace gpufl::analysis {
namespace {

// When a lane works.
Intervals add_lane(const WarpCapture& capture, const WarpLane& lane, WarpGroupFigures& group) {
  Intervals work, waits;
  for (size_t i = lane.first; i < lane.last; ++i) {
    const WarpSpan& span = capture.spans[i];
    if (!span.is_range()) continue;
    add_in_order(capture.events[span.event].is_wait ? waits : work, span.start, span.end);
  }
  work = subtract(work, waits);
  group.lanes += 1;
  group.extent_ns = saturating_add(group.extent_ns, lane.extent.length());
  group.busy_ns = saturating_add(group.busy_ns, total_length(work));
  group.wait_ns = saturating_add(group.wait_ns, total_length(waits));
  return work;
}

void add_overlaps(const WarpCapture& capture, size_t first, const std::vector<Intervals>& work,
                  std::vector<WarpOverlap>& overlaps) {
  const uint32_t groups =
      std::min(static_cast<uint32_t>(capture.groups.size()), GroupTimes::kMaxOverlapGroups);
  for (size_t i = 0; i < work.size(); ++i) {
    for (size_t j = i + 1; j < work.size(); ++j) {
      const WarpLane &a = capture.lanes[first + i], &b = capture.lanes[first + j];
      if (a.group >= groups || b.group >= groups) continue;
      // Pairs (0,1), (0,2), ... (1,2), ...: lanes of a block are in order of their group.
      const uint32_t place = a.group * groups - a.group * (a.group + 1) / 2 + b.group - a.group - 1;
      WarpOverlap& overlap = overlaps[place];
      overlap.both_ns = saturating_add(overlap.both_ns, total_length(intersect(work[i], work[j])));
      overlap.extent_ns =
          saturating_add(overlap.extent_ns, std::max(a.extent.end, b.extent.end) -
                                                std::min(a.extent.start, b.extent.start));
    }
  }
}

double deviation(std::span<const int64_t> values, double mean) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (const int64_t value : values) {
    squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  }
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

struct EventSpans {
  WarpEventFigures figures;
  std::vector<int64_t> durations;
};

// Figures of every event of every group.
void add_events(const WarpCapture& capture, std::vector<WarpGroupFigures>& groups) {
  std::unordered_map<uint64_t, EventSpans> found;  // by group and event
  for (const WarpLane& lane : capture.lanes) {
    for (size_t i = lane.first; i < lane.last; ++i) {
      const WarpSpan& span = capture.spans[i];
      EventSpans& spans = found[(uint64_t{lane.group} << 32) | span.event];
      switch (span.ending) {
        case format::WarpEnding::Normal: spans.durations.push_back(span.end - span.start); break;
        case format::WarpEnding::Instant: spans.figures.instants += 1; break;
        default: spans.figures.unmatched += 1; break;
      }
    }
  }
  const double error_ns = capture.span_error_ns();
  for (auto& [key, spans] : found) {
    WarpEventFigures& event = spans.figures;
    event.event = static_cast<uint32_t>(key);
    event.duration_ns = stats_of(spans.durations);
    event.deviation_ns = deviation(spans.durations, event.duration_ns.mean);
    event.is_short = event.duration_ns.count > 0 && event.duration_ns.median < 4 * error_ns;
    groups[key >> 32].events.push_back(event);
  }
  for (WarpGroupFigures& group : groups) {
    std::sort(group.events.begin(), group.events.end(), [](const auto& a, const auto& b) {
      return std::tie(b.duration_ns.total, a.event) < std::tie(a.duration_ns.total, b.event);
    });
  }
}

}  // namespace

GroupTimes group_times(const WarpCapture& capture) {
  GroupTimes times;
  for (uint32_t group = 0; group < capture.groups.size(); ++group) {
    times.groups.push_back({.group = group});
  }
  const uint32_t paired =
      std::min(static_cast<uint32_t>(capture.groups.size()), GroupTimes::kMaxOverlapGroups);
  for (uint32_t a = 0; a < paired; ++a) {
    for (uint32_t b = a + 1; b < paired; ++b) times.overlaps.push_back({a, b});
  }
  capture.for_each_block([&](size_t first, size_t last) {
    std::vector<Intervals> work;
    for (size_t lane = first; lane < last; ++lane) {
      const WarpLane& its = capture.lanes[lane];
      work.push_back(add_lane(capture, its, times.groups[its.group]));
    }
    add_overlaps(capture, first, work, times.overlaps);
  });
  add_events(capture, times.groups);
  std::erase_if(times.overlaps, [](const WarpOverlap& overlap) { return overlap.extent_ns == 0; });
  return times;
}

}  // namespace gpufl::analysis
