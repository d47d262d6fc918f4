// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/latency.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "analysis/figures/missing.hpp"
#include "analysis/math/saturating.hpp"
#include "analysis/session/selection.hpp"

namespace gpufl::analysis {

namespace {

// Calls by function, and the durations of those that have one, gathered as they come.
class ApiTable {
 public:
  void add(const std::string& function, int64_t duration_ns, bool has_failed) {
    Entry& entry = entries_[function];
    ++entry.calls;
    entry.failed += has_failed ? 1 : 0;
    if (duration_ns >= 0) entry.durations.push_back(duration_ns);
    tells_something_ |= duration_ns >= 0 || has_failed;
  }
  // Whether a call was timed or failed.
  bool tells_something() const { return tells_something_; }
  std::vector<ApiGroup> finish() {
    std::vector<ApiGroup> groups;
    double all_ns = 0;
    for (auto& [function, entry] : entries_) {
      groups.push_back({function, entry.calls, stats_of(entry.durations), 0, entry.failed});
      entry.durations = {};
      all_ns += static_cast<double>(groups.back().duration_ns.total);
    }
    for (ApiGroup& group : groups) {
      if (all_ns > 0) group.share = static_cast<double>(group.duration_ns.total) / all_ns;
    }
    std::stable_sort(groups.begin(), groups.end(), [](const ApiGroup& a, const ApiGroup& b) {
      return a.duration_ns.total > b.duration_ns.total;
    });
    return groups;
  }

 private:
  struct Entry {
    NarrowColumn durations;
    uint64_t calls = 0, failed = 0;
  };
  std::map<std::string, Entry> entries_;
  bool tells_something_ = false;
};

bool is_of_graph(const Kernels& kernels, size_t row) {
  return (!kernels.graph.empty() && kernels.graph[row] != 0) ||
         (!kernels.graph_node.empty() && kernels.graph_node[row] != 0);
}

}  // namespace

int64_t launch_latency_of(const Kernels& kernels, size_t row) {
  const int64_t call_ns = kernels.call_start(row);
  if (call_ns == kNoTime || is_of_graph(kernels, row)) return kNoTime;
  const int64_t latency_ns = saturating_subtract(kernels.start[row], call_ns);
  return latency_ns < 0 ? kNoTime : latency_ns;
}

uint64_t launched_too_late(const SessionData& session, const AnalysisOptions& options) {
  const Kernels& kernels = session.tables.kernels;
  if (kernels.api_start.empty()) return 0;
  const Selection selection(session.tables, options);
  uint64_t count = 0;
  for (size_t row = 0; row < kernels.rows(); ++row) {
    const bool has_call = kernels.api_start[row] != kNoTime && !is_of_graph(kernels, row);
    if (!has_call || kernels.start[row] >= kernels.api_start[row]) continue;
    count += selection.includes(kernels, row) ? 1 : 0;
  }
  return count;
}

LaunchLatency launch_latency(const SessionData& session, const AnalysisOptions& options) {
  const Kernels& kernels = session.tables.kernels;
  const Selection selection(session.tables, options);
  LaunchLatency figures;
  uint64_t count = 0;
  for (size_t row = 0; row < kernels.rows(); ++row) {
    if (!selection.includes(kernels, row)) continue;
    ++count;
    figures.kernels += is_of_graph(kernels, row) ? 0 : 1;
  }
  // One after another: of many kernels each takes its memory.
  const auto fill = [&](Figure<Stats>& figure, auto missing, auto value_of) {
    NarrowColumn values;
    values.reserve(count);
    for (size_t row = 0; row < kernels.rows(); ++row) {
      if (!selection.includes(kernels, row)) continue;
      if (const int64_t value = value_of(row); value != kNoTime) values.push_back(value);
    }
    if (!values.empty()) {
      figure = stats_of(values);
    } else if (count == 0 && records_gpu_work(session)) {
      figure = Unknown{"no kernel ran", ""};
    } else if (&figure != &figures.driver_ns && launched_too_late(session, options) != 0) {
      figure = Unknown{"all kernels began before their calls: the clocks disagree", ""};
    } else {
      figure = missing(session);
    }
  };
  fill(figures.launch_ns, missing_call_times,
       [&](size_t row) { return launch_latency_of(kernels, row); });
  fill(figures.queue_ns, missing_call_times, [&](size_t row) {
    const int64_t latency_ns = launch_latency_of(kernels, row);
    const int64_t call_ns = kernels.call_duration(row);
    if (latency_ns == kNoTime || call_ns == kNoDuration) return kNoTime;
    return std::max<int64_t>(latency_ns - call_ns, 0);
  });
  const auto missing_queue_times = [](const SessionData& of) {
    return missing_option(of, "the driver's times of kernels were", "enable_queue_times");
  };
  fill(figures.driver_ns, missing_queue_times, [&](size_t row) {
    if (kernels.queued.empty() || kernels.queued[row] == kNoTime) return kNoTime;
    return std::max<int64_t>(saturating_subtract(kernels.start[row], kernels.queued[row]), 0);
  });
  return figures;
}

Figure<std::vector<ApiGroup>> api_calls(const SessionData& session,
                                        const AnalysisOptions& options) {
  const Tables& tables = session.tables;
  const Selection selection(tables, options);
  ApiTable calls;
  const ApiCalls& api = tables.api_calls;
  std::unordered_map<int64_t, size_t> row_of;  // rows of calls, by correlation id
  for (size_t row = 0; row < api.correlation.size(); ++row) {
    if (api.correlation[row] != 0) row_of.try_emplace(api.correlation[row], row);
  }
  std::vector<bool> is_told(api.rows());  // by a row of the work that it asked for
  std::unordered_set<int64_t> seen;       // correlation ids of calls with several rows
  // Of rows that tell no begin of their call, those of a graph may share one, too.
  const auto add_table = [&](const Work& work, const std::string& what, bool is_shared) {
    if (work.api_start.empty()) return;
    for (size_t row = 0; row < work.rows(); ++row) {
      if (!selection.includes(work, row)) continue;
      const bool has_begin = work.call_start(row) != kNoTime;
      const bool has_id = !work.correlation.empty() && work.correlation[row] != 0;
      if (!has_begin && is_shared && !has_id) continue;
      if (is_shared && has_id && !seen.insert(work.correlation[row]).second) continue;
      const auto call =
          work.correlation.empty() ? row_of.end() : row_of.find(work.correlation[row]);
      const std::string& function = call != row_of.end() ? tables.name(api.name[call->second])
                                    : work.stack.empty()
                                        ? what
                                        : session.code.api_function(work.stack[row]);
      const bool has_failed = call != row_of.end() && api.has_failed(call->second);
      if (call != row_of.end()) is_told[call->second] = true;
      calls.add(function.empty() ? what : function,
                has_begin ? work.call_duration(row) : kNoDuration, has_failed);
    }
  };
  // One launch of a graph is behind many rows.
  const bool has_graphs = !tables.kernels.graph.empty() || !tables.kernels.graph_node.empty();
  add_table(tables.graphs, "graph launch", has_graphs);
  add_table(tables.kernels, "kernel launch", has_graphs);
  add_table(tables.copies, "copy", has_graphs);
  add_table(tables.fills, "memset", has_graphs);
  add_table(tables.waits, "wait", false);
  for (size_t row = 0; row < api.rows(); ++row) {
    if (is_told[row] || !selection.includes(api, row)) continue;
    calls.add(tables.name(api.name[row]), api.duration[row], api.has_failed(row));
  }
  if (!calls.tells_something()) return missing_call_times(session);
  return calls.finish();
}

Figure<std::vector<WaitGroup>> waits(const SessionData& session, const AnalysisOptions& options) {
  const Waits& waits = session.tables.waits;
  if (!records_gpu_work(session)) return missing_gpu_work(session.summary);
  if (waits.rows() == 0 && is_refused(session, "enable_synchronization")) {
    return missing_option(session, "waits were", "enable_synchronization");
  }
  const Selection selection(session.tables, options);
  std::map<std::string_view, std::vector<int64_t>> by_call;
  for (size_t row = 0; row < waits.rows(); ++row) {
    if (!selection.includes(waits, row) || !holds_host(waits, row)) continue;
    const uint8_t call = waits.wait_kind.empty() ? 0 : waits.wait_kind[row];
    by_call[wait_call_name(call)].push_back(waits.duration[row]);
  }
  std::vector<WaitGroup> groups;
  for (auto& [call, blocked] : by_call) {
    groups.push_back({std::string(call), stats_of(std::span<int64_t>(blocked))});
  }
  std::stable_sort(groups.begin(), groups.end(), [](const WaitGroup& a, const WaitGroup& b) {
    return a.blocked_ns.total > b.blocked_ns.total;
  });
  return groups;
}

}  // namespace gpufl::analysis
