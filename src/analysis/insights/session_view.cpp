// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/session_view.hpp"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

#include "analysis/figures/busy.hpp"
#include "analysis/math/stats.hpp"
#include "analysis/session/scope_paths.hpp"

namespace gpufl::analysis {
namespace {

std::string_view word_for_whole(const Coverage& coverage) {
  constexpr double kNearlyAll = 0.95;
  const bool is_part = coverage.whole_ns > 0 && coverage.share() < kNearlyAll;
  return coverage.is_budgeted || is_part ? "what was recorded" : "session";
}

}  // namespace

DeviceIdle::DeviceIdle(GapList gaps) : gaps_(std::move(gaps)) {
  int64_t sum = 0;
  for (size_t i = 0; i < gaps_.size(); ++i) {
    if (i % kStride == 0) sums_.push_back(sum);
    sum += gaps_[i].span.length();
  }
}

int64_t DeviceIdle::idle_before(int64_t time_ns) const {
  const size_t begun = gaps_.count_first([&](const Gap& gap) { return gap.span.start < time_ns; });
  if (begun == 0) return 0;
  const size_t last = begun - 1;
  int64_t sum = sums_[last / kStride];
  for (size_t i = last / kStride * kStride; i < last; ++i) sum += gaps_[i].span.length();
  const Interval span = gaps_[last].span;
  return sum + std::min(span.end, time_ns) - span.start;
}

int64_t DeviceIdle::idle_ns(Interval span) const {
  return span.end <= span.start ? 0 : idle_before(span.end) - idle_before(span.start);
}

SessionView::SessionView(const SessionData& session_in, const Overview& overview_in,
                         const Thresholds& thresholds_in)
    : session(session_in),
      tables(session_in.tables),
      overview(overview_in),
      thresholds(thresholds_in),
      wall_ns(std::max<int64_t>(1, overview_in.recorded_ns)),
      whole(word_for_whole(overview_in.coverage)),
      selection(session_in.tables, overview_in.options),
      scope_paths_(session_in.scope_paths(overview_in.options)) {}

std::optional<HostCall> SessionView::call_of(const Work& work, size_t row) const {
  const int64_t start = work.call_start(row);
  if (start == kNoTime) return std::nullopt;
  const int64_t duration = work.call_duration(row);
  const bool has_end = duration != kNoDuration;
  return HostCall{
      thread_of(work, row), {start, has_end ? saturating_add(start, duration) : start}, has_end};
}

const Work& SessionView::work(WorkKind kind) const {
  switch (kind) {
    case WorkKind::Copy: return tables.copies;
    case WorkKind::Fill: return tables.fills;
    case WorkKind::Graph: return tables.graphs;
    case WorkKind::Kernel: break;
  }
  return tables.kernels;
}

const std::string& SessionView::kernel_label(size_t kernel_row) const {
  return session.kernel_names()
      .of(tables.config(tables.kernels.config[kernel_row]).name)
      .short_name;
}

const std::string& SessionView::scope_of(const Work& work, size_t row) const {
  static const std::string kNone;
  const uint32_t scope = tables.callers[work.caller[row]].scope;
  if (scope == kNoRow || scope >= scope_paths_->of_scope.size()) return kNone;
  const uint32_t path = scope_paths_->of_scope[scope];
  return path == UINT32_MAX ? kNone : scope_paths_->paths[path].text;
}

const DeviceIdle& SessionView::idle(int64_t device) const {
  if (!has_idle_) {
    AnalysisOptions options = overview.options;
    options.minimum_gap_ns = 1;
    for (auto& [of_device, list] : idle_gaps_by_device(session, options)) {
      idle_.emplace(of_device, DeviceIdle(std::move(list)));
    }
    has_idle_ = true;
  }
  return idle_.try_emplace(device, DeviceIdle({})).first->second;
}

bool SessionView::was_queued(const Gap& gap) const {
  const auto call = call_of(work(gap.after.kind), gap.after.row);
  return call && call->has_end && call->span.end <= gap.span.start;
}

double SessionView::queued_pause_ns(int64_t device) const {
  const auto known = queued_pauses_ns_.find(device);
  if (known != queued_pauses_ns_.end()) return known->second;
  return queued_pauses_ns_.emplace(device, find_queued_pause_ns(device)).first->second;
}

double SessionView::find_queued_pause_ns(int64_t device) const {
  constexpr size_t kEnough = 10;
  const GapList& gaps = idle(device).gaps();
  size_t pieces = 0;
  for (const Work* const table : work_tables(tables)) {
    for (size_t row = 0; row < table->rows(); ++row) {
      pieces += device_of(*table, row) == device && selection.includes(*table, row) ? 1 : 0;
    }
  }
  std::vector<int64_t> pauses;
  for (const Gap& gap : gaps) {
    if (was_queued(gap)) pauses.push_back(gap.span.length());
  }
  // What has no pause before it runs beside other work, or right behind it.
  if (pieces > gaps.size() + 1) pauses.resize(pauses.size() + pieces - gaps.size() - 1, 0);
  if (pauses.size() < kEnough) return thresholds.launch_bound.graph_node_gap_us * 1e3;
  return stats_of(std::span(pauses)).median;
}

double SessionView::recording_ns_per_call() const {
  const auto& ledger = session.summary.ledger;
  if (!ledger || !ledger->callback_ns) return 0;
  uint64_t calls = ledger->launches_seen.value_or(0) + ledger->graph_launches.value_or(0);
  for (const char* const kind : {"memcpy", "memset", "sync", "memory", "api"}) {
    const auto rows = ledger->writer.rows.find(kind);
    if (rows != ledger->writer.rows.end()) calls += rows->second;
  }
  if (calls == 0) return 0;
  return static_cast<double>(*ledger->callback_ns) / static_cast<double>(calls) +
         thresholds.insights.vendor_call_us * 1e3;
}

const Intervals& SessionView::kernel_spans(int64_t device) const {
  const auto found = kernel_spans_.find(device);
  if (found != kernel_spans_.end()) return found->second;
  const WorkKinds kernels{.kernels = true, .copies = false, .fills = false, .graphs = true};
  // Of all scopes: what runs beside other work is hidden by it, whoever asked for that.
  AnalysisOptions options = overview.options;
  options.scope.clear();
  return kernel_spans_.emplace(device, busy_intervals(session, device, options, kernels))
      .first->second;
}

int64_t SessionView::device_or_busiest(const Work& work, size_t row) const {
  const int64_t device = device_of(work, row);
  if (device >= 0) return device;
  const auto busiest =
      std::max_element(overview.devices.begin(), overview.devices.end(),
                       [](const auto& a, const auto& b) { return a.busy_ns < b.busy_ns; });
  return busiest == overview.devices.end() ? device : busiest->device;
}

const std::vector<int64_t>& SessionView::launches() const {
  if (launches_) return *launches_;
  const Kernels& kernels = tables.kernels;
  launches_.emplace().reserve(kernels.rows());
  std::unordered_set<int64_t> graphs;  // correlation ids of launches of them that are in it
  for (size_t row = 0; row < kernels.rows(); ++row) {
    if (!selection.includes(kernels, row)) continue;
    const bool is_again = is_of_graph(row) && !kernels.correlation.empty() &&
                          !graphs.insert(kernels.correlation[row]).second;
    if (!is_again) launches_->push_back(kernels.asked_at(row));
  }
  std::sort(launches_->begin(), launches_->end());
  // Logs of other tools may not tell graphs, but what one call asked for, it did at the same time.
  launches_->erase(std::unique(launches_->begin(), launches_->end()), launches_->end());
  return *launches_;
}

std::string_view SessionView::vendor(int64_t device) const {
  for (const base::Json& line : session.summary.devices) {
    if (line["device"].as_integer(-1) == device) return line["vendor"].as_string();
  }
  return {};
}

std::optional<int64_t> SessionView::fact(int64_t device, std::string_view name) const {
  for (const base::Json& line : session.summary.devices) {
    if (line["device"].as_integer(-1) != device) continue;
    const base::Json& value = line[name];
    if (value.is_integer()) return value.as_integer();
  }
  return std::nullopt;
}

}  // namespace gpufl::analysis
