// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/busy.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "analysis/figures/missing.hpp"
#include "analysis/figures/recorded_time.hpp"
#include "analysis/math/saturating.hpp"
#include "analysis/session/selection.hpp"

namespace gpufl::analysis {

namespace {

// How many kernels ran at a time: ends of those that run, soonest in front.
class ConcurrencySweep {
 public:
  void add(Interval span) {
    if (span.end <= span.start) return;
    while (!ends_.empty() && ends_.front() <= span.start) end_soonest();
    advance_to(span.start);
    ends_.push_back(span.end);
    std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
    figures_.max = std::max(figures_.max, static_cast<uint32_t>(ends_.size()));
  }

  Concurrency finish() {
    while (!ends_.empty()) end_soonest();
    const int64_t busy_ns = figures_.one_ns + figures_.two_ns + figures_.more_ns;
    figures_.mean = busy_ns == 0 ? 0 : weighted_ns_ / static_cast<double>(busy_ns);
    return figures_;
  }

 private:
  void end_soonest() {
    advance_to(ends_.front());
    std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
    ends_.pop_back();
  }
  void advance_to(int64_t time_ns) {
    const int64_t passed_ns = time_ns - now_ns_;
    now_ns_ = time_ns;
    if (ends_.empty()) return;
    int64_t& level = ends_.size() == 1   ? figures_.one_ns
                     : ends_.size() == 2 ? figures_.two_ns
                                         : figures_.more_ns;
    level += passed_ns;
    weighted_ns_ += static_cast<double>(passed_ns) * static_cast<double>(ends_.size());
  }

  std::vector<int64_t> ends_;
  int64_t now_ns_ = 0;
  double weighted_ns_ = 0;
  Concurrency figures_;
};

struct DeviceSweep {
  // `without_rows`: see spans_without_rows(); outlives it.
  DeviceSweep(const AnalysisOptions& options, Interval span, const Intervals& without_rows)
      : finder(without_rows), gaps(options), series(span, options.series_points) {}

  // For all work of the device; what is asked for is added besides.
  void see(WorkRow row, Interval span, bool is_asked_for) {
    std::optional<Gap> gap = finder.add(span, row);
    if (!gap || !is_asked_for) return;
    gap->device = busy.device;
    gaps.add(*gap);
  }
  void add(WorkRow row, Interval span, bool has_series) {
    covered_by_kind[static_cast<size_t>(row.kind)].add(span, row);
    if (row.kind == WorkKind::Kernel) concurrency.add(span);
    const int64_t covered_to = covered.end_ns();
    const bool is_first = covered.total_ns() == 0;
    covered.add(span, row);
    if (has_series) {
      series.hold(is_first ? span.start : std::max(span.start, covered_to), span.end, 1);
    }
  }

  CoveredTime covered;
  std::array<CoveredTime, 4> covered_by_kind;
  ConcurrencySweep concurrency;
  GapFinder finder;
  GapCollector gaps;
  SeriesBuilder series;
  DeviceBusy busy;
  uint64_t rows = 0;
};

void count_row(DeviceBusy& busy, WorkKind kind, int64_t duration_ns) {
  switch (kind) {
    case WorkKind::Kernel:
      ++busy.kernels;
      busy.kernel_sum_ns = saturating_add(busy.kernel_sum_ns, duration_ns);
      break;
    case WorkKind::Copy:
      ++busy.copies;
      busy.copy_sum_ns = saturating_add(busy.copy_sum_ns, duration_ns);
      break;
    case WorkKind::Fill:
      ++busy.fills;
      busy.fill_sum_ns = saturating_add(busy.fill_sum_ns, duration_ns);
      break;
    case WorkKind::Graph: ++busy.graphs; break;
  }
}

DeviceBusy finish_device(DeviceSweep& sweep, const Intervals& recorded, bool has_series) {
  DeviceBusy busy = std::move(sweep.busy);
  const auto total = [&](WorkKind kind) {
    return sweep.covered_by_kind[static_cast<size_t>(kind)].total_ns();
  };
  busy.busy_ns = sweep.covered.total_ns();
  busy.kernel_ns = total(WorkKind::Kernel);
  busy.copy_ns = total(WorkKind::Copy);
  busy.fill_ns = total(WorkKind::Fill);
  busy.graph_ns = total(WorkKind::Graph);
  // A log may lack the time of its end, and its clock may be off by microseconds.
  busy.recorded_ns = std::max(total_length(recorded), busy.busy_ns);
  busy.busy_share = busy.recorded_ns == 0
                        ? 0
                        : static_cast<double>(busy.busy_ns) / static_cast<double>(busy.recorded_ns);
  busy.first_ns = sweep.covered.first_ns();
  busy.last_ns = sweep.covered.end_ns();
  busy.before_ns = total_length(clip(recorded, {Selection::kAlways.start, busy.first_ns}));
  busy.after_ns = total_length(clip(recorded, {busy.last_ns, Selection::kAlways.end}));
  busy.concurrency = sweep.concurrency.finish();
  busy.idle = sweep.gaps.finish();
  if (has_series) busy.busy_series = sweep.series.finish_share(recorded);
  return busy;
}

}  // namespace

std::vector<DeviceBusy> busy_times(const SessionData& session, const AnalysisOptions& options) {
  const Tables& tables = session.tables;
  const Selection selection(tables, options);
  const DeviceIndex index(tables);
  const Intervals recorded = recorded_spans(session, options);
  const Interval span =
      recorded.empty() ? Interval{} : Interval{recorded.front().start, recorded.back().end};
  const bool has_series = options.depth == Depth::Full && records_gpu_work(session);

  std::vector<Intervals> without_rows;
  for (const int64_t device : index.devices) {
    without_rows.push_back(spans_without_rows(session, device));
  }
  std::vector<DeviceSweep> sweeps;
  sweeps.reserve(index.devices.size());
  for (size_t i = 0; i < index.devices.size(); ++i) {
    sweeps.emplace_back(options, span, without_rows[i]).busy.device = index.devices[i];
  }
  const WorkTables all = work_tables(tables);
  visit_in_order(all, selection.reaching_rows(all), [&](WorkRow row, const Work& work) {
    if (!selection.has_device(work, row.row)) return;
    DeviceSweep& sweep = sweeps[index.of(work, row.row)];
    const Interval span_of_row = selection.span(work, row.row);
    const bool is_asked_for = selection.concerns(work, row.row);
    sweep.see(row, span_of_row, is_asked_for);
    if (!is_asked_for) return;
    if (selection.has_window(work.start[row.row])) {
      ++sweep.rows;
      count_row(sweep.busy, row.kind, work.duration[row.row]);
    }
    sweep.add(row, span_of_row, has_series);
  });

  std::vector<DeviceBusy> devices;
  for (DeviceSweep& sweep : sweeps) {
    // Lanes are also those of waits and calls, which may tell no device.
    const bool has_work = sweep.covered.total_ns() != 0 || sweep.rows != 0;
    if (!has_work || !selection.has_device(sweep.busy.device)) continue;
    devices.push_back(finish_device(sweep, recorded, has_series));
  }
  for (const base::Json& fact : session.summary.devices) {
    const int64_t number = fact["device"].as_integer();
    if (!selection.has_device(number)) continue;
    auto place = std::find_if(devices.begin(), devices.end(),
                              [&](const DeviceBusy& busy) { return busy.device == number; });
    if (place == devices.end()) {
      const Intervals none;
      DeviceSweep idle(options, span, none);
      idle.busy.device = number;
      devices.push_back(finish_device(idle, recorded, has_series));
      place = devices.end() - 1;
    }
    place->name = fact["name"].as_string();
  }
  std::sort(devices.begin(), devices.end(),
            [](const DeviceBusy& a, const DeviceBusy& b) { return a.device < b.device; });
  return devices;
}

Intervals busy_intervals(const SessionData& session, int64_t device, const AnalysisOptions& options,
                         WorkKinds kinds) {
  AnalysisOptions of_device = options;
  of_device.device = device;
  const Selection selection(session.tables, of_device);
  WorkTables tables = work_tables(session.tables);
  const std::array<bool, 4> wanted = {kinds.kernels, kinds.copies, kinds.fills, kinds.graphs};
  for (size_t i = 0; i < tables.size(); ++i) {
    if (!wanted[i]) tables[i] = nullptr;
  }
  Intervals busy;
  visit_in_order(tables, selection.reaching_rows(tables), [&](WorkRow row, const Work& work) {
    if (!selection.concerns(work, row.row)) return;
    const Interval span = selection.span(work, row.row);
    add_in_order(busy, span.start, span.end);
  });
  return busy;
}

}  // namespace gpufl::analysis
