// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/scope_work.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "analysis/figures/energy.hpp"
#include "analysis/figures/latency.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/figures/scope_busy.hpp"
#include "analysis/math/saturating.hpp"
#include "analysis/session/scope_paths.hpp"
#include "analysis/session/selection.hpp"

namespace gpufl::analysis {

namespace {

using Items = std::unordered_map<uint32_t, ScopeItem>;  // by key

struct LatencySum {
  uint64_t count = 0;
  double sum_ns = 0;
};

// What belongs to one path, while it is gathered.
struct Gathering {
  Items kernels, waits;
  LatencySum latency;
  Intervals spans;  // when such a scope was open
};

void add_item(Items& items, uint32_t key, uint64_t count, int64_t total_ns) {
  ScopeItem& item = items[key];
  item.key = key;
  item.count += count;
  item.total_ns = saturating_add(item.total_ns, total_ns);
}

// Adds up work path by path: first what was launched in each, then what lies inside.
class WorkSweep {
 public:
  WorkSweep(const SessionData& session, const AnalysisOptions& options, const ScopePaths& paths)
      : tables_(session.tables),
        selection_(tables_, options),
        paths_(paths),
        path_of_caller_(paths_of_callers(tables_, paths)),
        own_(paths.paths.size()),
        gathered_(paths.paths.size()) {}

  void add_kernels() {
    const Kernels& kernels = tables_.kernels;
    for_each_row(kernels, [&](size_t row, uint32_t path) {
      ActivityTotals& own = own_[path];
      const int64_t duration_ns = kernels.duration[row];
      ++own.kernels;
      own.kernel_ns = saturating_add(own.kernel_ns, duration_ns);
      Gathering& gathered = gathered_[path];
      add_item(gathered.kernels, tables_.configs[kernels.config[row]].name, 1, duration_ns);
      const int64_t latency_ns = launch_latency_of(kernels, row);
      if (latency_ns != kNoTime) {
        ++gathered.latency.count;
        gathered.latency.sum_ns += static_cast<double>(latency_ns);
      }
    });
  }

  void add_others() {
    const Copies& copies = tables_.copies;
    for_each_row(copies, [&](size_t row, uint32_t path) {
      ActivityTotals& own = own_[path];
      ++own.copies;
      own.copy_ns = saturating_add(own.copy_ns, copies.duration[row]);
      own.copy_bytes = saturating_add(own.copy_bytes, copies.bytes[row]);
      own.unsized_copies += copies.bytes[row] == 0 ? 1 : 0;
    });
    const Fills& fills = tables_.fills;
    for_each_row(fills, [&](size_t row, uint32_t path) {
      ++own_[path].fills;
      own_[path].fill_ns = saturating_add(own_[path].fill_ns, fills.duration[row]);
    });
    const Waits& waits = tables_.waits;
    for_each_row(waits, [&](size_t row, uint32_t path) {
      if (!holds_host(waits, row)) return;
      ++own_[path].waits;
      own_[path].wait_ns = saturating_add(own_[path].wait_ns, waits.duration[row]);
      const uint8_t call = waits.wait_kind.empty() ? 0 : waits.wait_kind[row];
      add_item(gathered_[path].waits, call, 1, waits.duration[row]);
    });
  }

  void add_spans() {
    const Scopes& scopes = tables_.scopes;
    const RowRange rows = selection_.reaching_rows(scopes);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      const uint32_t path = paths_.of_scope[row];
      if (path == kNoRow) continue;
      add_in_order(gathered_[path].spans, std::max(scopes.start[row], selection_.window().start),
                   std::min(scopes.end(row), selection_.window().end));
    }
  }

  const std::vector<ActivityTotals>& own() const { return own_; }
  std::vector<Gathering>& gathered() { return gathered_; }

 private:
  template <class Add>
  void for_each_row(const Work& work, Add add) {
    const RowRange rows = selection_.rows(work);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      const uint32_t path = path_of_caller_[work.caller[row]];
      if (path != kNoRow && selection_.includes(work, row)) add(row, path);
    }
  }

  const Tables& tables_;
  Selection selection_;
  const ScopePaths& paths_;
  std::vector<uint32_t> path_of_caller_;
  std::vector<ActivityTotals> own_;
  std::vector<Gathering> gathered_;
};

template <class Label>
std::vector<ScopeItem> top_items(const Items& items, size_t top, Label label) {
  std::vector<ScopeItem> out;
  out.reserve(items.size());
  for (const auto& [key, item] : items) out.push_back(item);
  const auto is_before = [](const ScopeItem& a, const ScopeItem& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.key < b.key;
  };
  const size_t kept = std::min(top, out.size());
  std::partial_sort(out.begin(), out.begin() + static_cast<ptrdiff_t>(kept), out.end(), is_before);
  out.resize(kept);
  for (ScopeItem& item : out) item.label = label(item.key);
  return out;
}

void add_scope_figures(const Scopes& scopes, const ScopePaths& paths, const Selection& selection,
                       std::vector<ScopeWork>& out) {
  std::vector<uint32_t> ended(scopes.rows(), kNoRow);  // path of those whose end is known
  const RowRange rows = selection.rows(scopes);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    const uint32_t path = paths.of_scope[row];
    if (path == kNoRow) continue;
    if (scopes.ending[row] == Scopes::kOpen) {
      out[path].add_open(scopes.start[row], scopes.duration[row]);
    } else {
      const bool is_lost = scopes.ending[row] == static_cast<uint8_t>(format::ScopeEnding::Lost);
      if (!is_lost) ended[row] = path;
      out[path].add_ended(scopes.start[row], scopes.duration[row],
                          static_cast<format::ScopeEnding>(scopes.ending[row]), scopes.repeat[row],
                          scopes.warmup[row]);
    }
  }
  const std::vector<Stats> stats = group_stats(ended, scopes.duration, out.size());
  for (size_t i = 0; i < out.size(); ++i) out[i].duration_stats_ns = stats[i];
}

Figure<double> iteration_gpu_ns(const ScopeWork& scope, const SessionData& session) {
  if (!records_gpu_work(session)) return missing_gpu_work(session.summary);
  if (scope.iteration_ns.count == 0) {
    return Unknown{"it is not a benchmark scope", "give the scope a repeat count"};
  }
  if (scope.cut + scope.lost + scope.open != 0) {
    return Unknown{"some of these scopes have no end in the log", ""};
  }
  if (session.summary.is_budgeted()) {
    return Unknown{"some of these scopes were open while nothing was recorded",
                   "record without a budget"};
  }
  return static_cast<double>(scope.total.gpu_ns()) / static_cast<double>(scope.iteration_ns.count);
}

}  // namespace

std::vector<ScopeWork> scope_work(const SessionData& session, const AnalysisOptions& options) {
  const Tables& tables = session.tables;
  const std::shared_ptr<const ScopePaths> held = session.scope_paths(options);
  const ScopePaths& paths = *held;
  std::vector<ScopeWork> out(paths.paths.size());
  if (out.empty()) return out;

  WorkSweep sweep(session, options, paths);
  sweep.add_kernels();
  sweep.add_others();
  sweep.add_spans();
  const Selection selection(tables, options);
  const std::vector<int64_t> busy = scope_busy_times(tables, selection, paths);
  add_scope_figures(tables.scopes, paths, selection, out);
  const EnergyMeter energy(tables);
  std::vector<Gathering>& gathered = sweep.gathered();
  std::vector<const Intervals*> spans;
  for (const Gathering& gathering : gathered) spans.push_back(&gathering.spans);
  const CounterCurves counters(tables);
  const std::vector<std::vector<uint32_t>> sampled = counters.sampled_in(spans);

  // Backwards, so that what is inside of a path is whole when it is added to it.
  for (size_t i = out.size(); i-- > 0;) {
    const ScopePaths::Path& path = paths.paths[i];
    ScopeWork& scope = out[i];
    Gathering& gathering = gathered[i];
    scope.name = tables.name(path.name);
    scope.tag = tables.name(path.tag);
    scope.path = path.text;
    scope.parent = path.parent;
    scope.depth = path.depth;
    scope.end = path.end;
    scope.own = sweep.own()[i];
    scope.total.add(scope.own);
    scope.busy_ns = busy[i];
    scope.kernels = top_items(gathering.kernels, options.top, [&](uint32_t name) {
      return session.kernel_names().of(name).short_name;
    });
    scope.kernel_names = gathering.kernels.size();
    scope.waits = top_items(gathering.waits, options.top,
                            [](uint32_t call) { return std::string(wait_call_name(call)); });
    scope.span_ns = total_length(gathering.spans);
    const LatencySum& latency = gathering.latency;
    scope.mean_launch_ns =
        latency.count == 0
            ? Figure<double>(Unknown{"the launch times of its kernels are unknown", ""})
            : Figure<double>(latency.sum_ns / static_cast<double>(latency.count));
    scope.iteration_gpu_ns = iteration_gpu_ns(scope, session);
    scope.energy_joules = energy.joules(gathering.spans);
    scope.counters = counters.increases(gathering.spans, sampled[i], options.top);

    if (path.parent != kNoRow) {
      out[path.parent].total.add(scope.total);
      Gathering& outer = gathered[path.parent];
      for (const auto& [key, item] : gathering.kernels) {
        add_item(outer.kernels, key, item.count, item.total_ns);
      }
      for (const auto& [key, item] : gathering.waits) {
        add_item(outer.waits, key, item.count, item.total_ns);
      }
      outer.latency.count += latency.count;
      outer.latency.sum_ns += latency.sum_ns;
    }
    gathering = {};
  }
  return out;
}

}  // namespace gpufl::analysis
