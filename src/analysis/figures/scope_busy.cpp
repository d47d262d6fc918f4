// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/scope_busy.hpp"

#include <algorithm>

#include "analysis/session/work_rows.hpp"

namespace gpufl::analysis {

std::vector<uint32_t> paths_of_callers(const Tables& tables, const ScopePaths& paths) {
  std::vector<uint32_t> path_of;
  path_of.reserve(tables.callers.size());
  for (const Caller& caller : tables.callers) {
    path_of.push_back(caller.scope < paths.of_scope.size() ? paths.of_scope[caller.scope] : kNoRow);
  }
  return path_of;
}

// One walk through the rows in order of time.
std::vector<int64_t> scope_busy_times(const Tables& tables, const Selection& selection,
                                      const ScopePaths& paths) {
  struct Edge {
    int64_t end = Selection::kAlways.start, total = 0;
  };
  const DeviceIndex index(tables);
  const size_t devices = index.devices.size();
  const std::vector<uint32_t> path_of_caller = paths_of_callers(tables, paths);
  std::vector<Edge> edges(paths.paths.size() * devices);
  const WorkTables all = work_tables(tables);
  visit_in_order(all, selection.reaching_rows(all), [&](WorkRow row, const Work& work) {
    uint32_t path = path_of_caller[work.caller[row.row]];
    if (path == kNoRow || !selection.concerns(work, row.row)) return;
    const Interval span = selection.span(work, row.row);
    const uint32_t device = index.of(work, row.row);
    for (; path != kNoRow; path = paths.paths[path].parent) {
      Edge& edge = edges[path * devices + device];
      if (span.end <= edge.end) continue;
      edge.total += std::max<int64_t>(span.end - std::max(span.start, edge.end), 0);
      edge.end = span.end;
    }
  });
  std::vector<int64_t> busy(paths.paths.size());
  for (size_t i = 0; i < edges.size(); ++i) busy[i / devices] += edges[i].total;
  return busy;
}

}  // namespace gpufl::analysis
