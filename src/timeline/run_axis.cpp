// SPDX-License-Identifier: Apache-2.0
#include "timeline/run_axis.hpp"

#include <algorithm>
#include <unordered_set>

#include "analysis/math/saturating.hpp"
#include "timeline/timeline.hpp"

namespace gpufl::timeline {
namespace {

using analysis::RunData;
using analysis::Tables;

int64_t first_of(const std::vector<int64_t>& sorted) {
  return sorted.empty() ? 0 : std::min<int64_t>(sorted.front(), 0);
}

// Calls are not in order of their start, which is before that of their work.
int64_t first_call(const analysis::Work& work) {
  int64_t first = 0;
  for (const int64_t start : work.api_start) {
    if (start != analysis::kNoTime) first = std::min(first, start);
  }
  return first;
}

// Null: there are none.
const format::Batch* rows_of(const Tables& tables, format::Kind kind) {
  const auto found = tables.others.find(kind);
  return found == tables.others.end() || found->second.empty() ? nullptr : &found->second;
}

// Rows are in any order; 0: there is none.
int64_t first_of(const Tables& tables, format::Kind kind) {
  const format::Batch* rows = rows_of(tables, kind);
  if (rows == nullptr) return 0;
  const std::vector<int64_t>& starts = rows->column(format::first_time(rows->kind_spec()));
  return *std::min_element(starts.begin(), starts.end());
}

}  // namespace

int64_t offset_of(const RunData& run, size_t session) {
  return session < run.offset_ns.size() ? run.offset_ns[session] : 0;
}

int64_t first_time(const RunData& run) {
  int64_t first = 0;
  for (size_t i = 0; i < run.sessions.size(); ++i) {
    const Tables& tables = run.sessions[i].tables;
    int64_t its = 0;
    const analysis::Work* works[] = {&tables.kernels,  &tables.copies,      &tables.fills,
                                     &tables.waits,    &tables.allocations, &tables.graphs,
                                     &tables.api_calls};
    for (const analysis::Work* work : works) {
      its = std::min({its, first_of(work->start), first_call(*work)});
    }
    its = std::min({its, first_of(tables.scopes.start), first_of(tables.markers.start),
                    first_of(tables.counters.time), first_of(tables.device_metrics.time),
                    first_of(tables.host_metrics.time), first_of(tables, format::Kind::WarpSpan),
                    first_of(tables, format::Kind::PmSample),
                    first_of(tables, format::Kind::Coverage)});
    first = std::min(first, analysis::saturating_add(its, offset_of(run, i)));
  }
  return first;
}

AxisClocks axis_clocks(const RunData& run) {
  AxisClocks clocks;
  for (size_t i = 0; i < run.sessions.size(); ++i) {
    if (offset_of(run, i) != 0) continue;
    const format::SessionHeader& header = run.sessions[i].summary.header;
    return {header.start_monotonic_ns, header.start_wall_ns};
  }
  return clocks;
}

std::vector<int64_t> distinct_pids(const RunData& run) {
  std::unordered_set<int64_t> taken;
  std::vector<int64_t> pids;
  for (const analysis::SessionData& session : run.sessions) {
    int64_t pid = std::clamp<int64_t>(session.summary.header.pid, 1, INT32_MAX / 2);
    while (!taken.insert(pid).second) ++pid;
    pids.push_back(pid);
  }
  return pids;
}

uint64_t timeline_rows(const RunData& run) {
  uint64_t rows = 0;
  for (const analysis::SessionData& session : run.sessions) {
    const Tables& tables = session.tables;
    for (const analysis::Work* work : {static_cast<const analysis::Work*>(&tables.kernels),
                                       static_cast<const analysis::Work*>(&tables.copies),
                                       static_cast<const analysis::Work*>(&tables.fills),
                                       static_cast<const analysis::Work*>(&tables.graphs)}) {
      rows += 2 * work->rows();  // the work, and the call behind it
    }
    rows += tables.waits.rows() + tables.allocations.rows() + tables.api_calls.rows() +
            tables.scopes.rows() + tables.markers.rows() + tables.counters.rows() +
            tables.device_metrics.rows() + tables.host_metrics.rows();
    for (const format::Kind kind :
         {format::Kind::WarpSpan, format::Kind::PmSample, format::Kind::Coverage}) {
      if (const format::Batch* others = rows_of(tables, kind)) rows += others->rows();
    }
  }
  return rows;
}

}  // namespace gpufl::timeline
