// SPDX-License-Identifier: Apache-2.0
#include "analysis/overview/overview.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "analysis/figures/energy.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/figures/recorded_time.hpp"
#include "analysis/math/saturating.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {

namespace {

Figure<KernelFigures> kernel_figures(const SessionData& session, const AnalysisOptions& options) {
  if (!records_gpu_work(session)) return missing_gpu_work(session.summary);
  const auto groups = [&](GroupBy by) { return kernel_groups(session, options, by); };
  KernelFigures figures;
  figures.by_name = *groups(GroupBy::Name);
  for (const KernelGroup& group : figures.by_name) {
    figures.count += group.duration_ns.count;
    figures.total_ns = saturating_add(figures.total_ns, group.duration_ns.total);
  }
  figures.estimates = kernel_estimates(session, options);
  if (options.depth == Depth::Summary) return figures;
  figures.by_config = *groups(GroupBy::Config);
  figures.by_class = *groups(GroupBy::Class);
  figures.by_scope = *groups(GroupBy::Scope);
  figures.by_stream = *groups(GroupBy::Stream);
  figures.by_device = *groups(GroupBy::Device);
  figures.by_line = groups(GroupBy::Line);
  figures.by_api_call = groups(GroupBy::ApiCall);
  figures.by_op = groups(GroupBy::Op);
  figures.by_module = groups(GroupBy::Module);
  return figures;
}

std::vector<std::string> caveats_of(const SessionSummary& summary) {
  std::vector<std::string> caveats;
  if (!summary.ended) {
    caveats.push_back(summary.live ? "the session is still being recorded"
                                   : "the session was cut off: " + std::string(format::kUnclosed));
  }
  if (summary.ledger) {
    const format::Ledger& ledger = *summary.ledger;
    const auto count = [&](const std::optional<uint64_t>& value, std::string_view noun,
                           std::string_view of_one, std::string_view of_several) {
      if (value.value_or(0) == 0) return;
      caveats.push_back(text::plural(*value, noun).append(*value == 1 ? of_one : of_several));
    };
    const auto same = [&](const std::optional<uint64_t>& value, std::string_view noun,
                          std::string_view what) { count(value, noun, what, what); };
    count(ledger.launches_missing, "kernel launch", " has no record", " have no record");
    same(ledger.launches_unfinished, "kernel", " still ran when recording stopped");
    count(ledger.launches_outside_range, "kernel launch", " was outside of the capture range",
          " were outside of the capture range");
    count(ledger.vendor_dropped, "record", " was dropped by the vendor's library",
          " were dropped by the vendor's library");
    same(ledger.impossible_times, "record", " had impossible times");
    count(ledger.scopes_dropped, "scope event", " was lost", " were lost");
    count(ledger.samples_missed, "sample", " of the system was missed",
          " of the system were missed");
    uint64_t dropped = 0;
    for (const auto& [reason, rows] : ledger.writer.dropped) dropped += rows;
    count(dropped, "row", " was dropped by the log", " were dropped by the log");
    count(ledger.writer.rows_deleted, "row", " was deleted to stay within the log's limits",
          " were deleted to stay within the log's limits");
  }
  if (summary.has_faults) caveats.emplace_back("parts of the log could not be read");
  constexpr size_t kNamed = 3;
  size_t lost = 0;
  for (const LostWindow& window : summary.lost_windows) {
    if (window.reason == LostWindow::Reason::Deleted) continue;  // told by the ledger
    if (++lost <= kNamed) caveats.push_back(describe(window) + " is unknown");
  }
  if (lost > kNamed) {
    caveats.push_back(std::to_string(lost - kNamed) + " more windows are missing or damaged");
  }
  return caveats;
}

Figure<Roofline> roofline_of(const SessionData& session, std::span<const CountedRange> ranges) {
  static constexpr std::string_view kEngines[] = {"RangeProfiler", "RangeProfilerKernelReplay"};
  if (!ranges.empty()) return roofline(ranges, session.summary.devices);
  if (session.passes && !session.passes->ranges) return session.passes->ranges.unknown();
  return missing_rows(session.summary, "counts of operations and bytes", kEngines);
}

void add_phases(const Coverage& coverage, std::vector<std::string>& caveats) {
  if (coverage.is_budgeted) {
    caveats.push_back("traced in " + phases_text(coverage.phases, coverage.share()) +
                      ": totals are those of the phases");
  }
  if (coverage.is_last_inferred) {
    caveats.emplace_back(
        "the last phase has no row, because the log has no end: where it began is inferred");
  }
}

}  // namespace

const DeviceBusy* Overview::device(int64_t number) const {
  const auto found = std::find_if(devices.begin(), devices.end(), [number](const DeviceBusy& busy) {
    return busy.device == number;
  });
  return found == devices.end() ? nullptr : &*found;
}

Overview analyze(const SessionData& session, const AnalysisOptions& options) {
  const Intervals recorded = recorded_spans(session, options);
  Overview overview;
  overview.options = options;
  overview.recorded_ns = total_length(recorded);
  overview.coverage = coverage(session, options);
  overview.devices = busy_times(session, options);
  overview.kernels = kernel_figures(session, options);
  overview.caveats = caveats_of(session.summary);
  add_phases(overview.coverage, overview.caveats);
  if (options.depth == Depth::Summary) return overview;

  overview.scopes = scope_work(session, options);
  overview.lost_scopes = lost_scopes(session.summary);
  overview.latency = launch_latency(session, options);
  if (const uint64_t count = launched_too_late(session, options)) {
    overview.caveats.push_back(text::plural(count, "kernel") +
                               " began before the launch by the log's clocks: left out of launch "
                               "latencies");
  }
  overview.api = api_calls(session, options);
  overview.waits = waits(session, options);
  overview.transfers = transfers(session, options);
  overview.communication = communication(session, options);
  overview.memory = memory_usage(session, options);
  overview.metrics = system_metrics(session, options);
  overview.counters = counter_figures(session, options);
  const EnergyMeter energy(session.tables);
  overview.energy_joules =
      options.device ? energy.joules(*options.device, recorded) : energy.joules(recorded);
  overview.iterations = find_iterations(session, options);
  overview.stalls = stall_figures(session, options);
  overview.ranges = counted_ranges(session, options);
  overview.sampled_counters = sampled_counters(session, options);
  overview.roofline = roofline_of(session, overview.ranges);
  overview.warps = warp_figures(session, options);
  return overview;
}

}  // namespace gpufl::analysis
