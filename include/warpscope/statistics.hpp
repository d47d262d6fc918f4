// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <tuple>

#include <warpscope/drawing.hpp>
#include <warpscope/names.hpp>
#include <warpscope/trace.hpp>

// How long things took, over the complete spans of a trace.
namespace ws {

struct DurationStatistics {
  uint32_t block = 0;  // of durations_by_block; else 0
  uint32_t group = 0;
  uint32_t event_id = 0;
  uint64_t count = 0;
  uint64_t total_ns = 0;
  double mean_ns = 0;
  double median_ns = 0;  // this and the percentiles: linear between the two nearest ranks
  double p90_ns = 0;
  double p99_ns = 0;
  uint64_t min_ns = 0;
  uint64_t max_ns = 0;
};

namespace detail {

inline double percentile(const std::vector<uint64_t>& sorted, double share) {
  const double rank = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(rank);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const auto low = static_cast<double>(sorted[below]), high = static_cast<double>(sorted[above]);
  return low + (high - low) * (rank - static_cast<double>(below));
}

inline std::vector<DurationStatistics> durations(const Trace& trace, bool by_block) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<uint64_t>> found;
  for (const Span& span : trace.spans) {
    found[{by_block ? span.block : 0, span.group, span.event_id}].push_back(span.duration());
  }
  std::vector<DurationStatistics> all;
  for (auto& [key, values] : found) {
    std::sort(values.begin(), values.end());
    DurationStatistics& one = all.emplace_back();
    std::tie(one.block, one.group, one.event_id) = key;
    one.count = values.size();
    for (const uint64_t value : values) one.total_ns += value;
    one.mean_ns = static_cast<double>(one.total_ns) / static_cast<double>(one.count);
    one.median_ns = percentile(values, 0.5);
    one.p90_ns = percentile(values, 0.9);
    one.p99_ns = percentile(values, 0.99);
    one.min_ns = values.front();
    one.max_ns = values.back();
  }
  return all;
}

}  // namespace detail

// For each (block, group, event), in that order.
inline std::vector<DurationStatistics> durations_by_block(const Trace& trace) {
  return detail::durations(trace, true);
}
// For each (group, event), over all blocks.
inline std::vector<DurationStatistics> durations_by_group(const Trace& trace) {
  return detail::durations(trace, false);
}

// A table of durations_by_group to standard output, and under it what an event costs, where the
// capture says so, and a line for each problem.
inline void print_durations(const Trace& trace, const std::vector<std::string>& event_names = {},
                            const std::vector<std::string>& group_names = {}) {
  std::printf("%-16s %-16s %9s %12s %12s %12s %12s %12s %12s\n", "group", "event", "count",
              "mean ns", "median ns", "p90 ns", "p99 ns", "min ns", "max ns");
  for (const DurationStatistics& one : durations_by_group(trace)) {
    const std::string group =
        detail::printable(detail::name_of(group_names, one.group, trace.names.group(one.group)));
    const std::string event = detail::printable(
        detail::name_of(event_names, one.event_id, trace.names.event(one.event_id)));
    std::printf("%-16s %-16s %9llu %12.1f %12.1f %12.1f %12.1f %12llu %12llu\n", group.c_str(),
                event.c_str(), static_cast<unsigned long long>(one.count), one.mean_ns,
                one.median_ns, one.p90_ns, one.p99_ns, static_cast<unsigned long long>(one.min_ns),
                static_cast<unsigned long long>(one.max_ns));
  }
  if (const uint32_t cost_ps = trace.layout.event_cost_ps; cost_ps != 0) {
    std::printf("recording an event takes %.1f ns here: every span includes about that much\n",
                cost_ps / 1e3);
  }
  for (const Problem& problem : trace.problems) std::printf("%s\n", problem.text.c_str());
}

}  // namespace ws
