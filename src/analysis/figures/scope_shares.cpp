// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/scope_shares.hpp"

#include <algorithm>
#include <map>

#include "analysis/figures/phases.hpp"
#include "analysis/figures/recorded_time.hpp"
#include "analysis/figures/scope_busy.hpp"
#include "analysis/session/selection.hpp"

namespace gpufl::analysis {
namespace {

using Times = std::unordered_map<uint32_t, std::map<uint32_t, double>>;  // by name and path

// When records and samples were taken by the schedule.
Intervals scheduled_spans(const SessionData& session, const AnalysisOptions& options) {
  const Intervals recorded = recorded_spans(session, options);
  const Intervals sampled = engine_phases(session, "PcSampling");
  return sampled.empty() ? recorded : intersect(recorded, sampled);
}

std::unordered_map<uint32_t, std::vector<ScopeShare>> shares_of(const Times& times) {
  std::unordered_map<uint32_t, std::vector<ScopeShare>> shares;
  for (const auto& [name, by_path] : times) {
    double total_ns = 0;
    for (const auto& [path, time_ns] : by_path) total_ns += time_ns;
    if (total_ns <= 0) continue;
    for (const auto& [path, time_ns] : by_path) shares[name].push_back({path, time_ns / total_ns});
  }
  return shares;
}

}  // namespace

ScopeShares::ScopeShares(const SessionData& session, const AnalysisOptions& options)
    : windows_(session) {
  const Tables& tables = session.tables;
  const Kernels& kernels = tables.kernels;
  const Selection selection(tables, options);
  const std::vector<uint32_t> path_of_caller =
      paths_of_callers(tables, *session.scope_paths(options));
  const Intervals scheduled = scheduled_spans(session, options);
  std::vector<Times> times(windows_.stretches().size());
  auto span = scheduled.begin();
  for (size_t row = 0; row < kernels.rows(); ++row) {
    if (!selection.includes(kernels, row)) continue;
    const Interval ran{kernels.start[row], kernels.end(row)};
    const uint32_t name = tables.config(kernels.config[row]).name;
    const uint32_t path = path_of_caller[kernels.caller[row]];
    const std::vector<SampleWindow>& windows =
        windows_.of_device(tables.lanes[kernels.lane[row]].device);
    auto window = std::lower_bound(
        windows.begin(), windows.end(), ran.start,
        [](const SampleWindow& one, int64_t time_ns) { return one.span.end <= time_ns; });
    const bool is_deep = window != windows.end() && window->stretch != 0 &&
                         windows_.stretches()[window->stretch].start <= ran.start;
    for (; window != windows.end() && window->span.start < ran.end; ++window) {
      if (window->stretch == 0) continue;
      times[window->stretch][name][path] += static_cast<double>(
          std::min(window->span.end, ran.end) - std::max(window->span.start, ran.start));
    }
    while (span != scheduled.end() && span->end <= ran.start) ++span;
    if (is_deep || span == scheduled.end() || ran.start < span->start) continue;
    times[0][name][path] += static_cast<double>(std::max<int64_t>(0, ran.length()));
  }
  for (const Times& one : times) shares_.push_back(shares_of(one));
}

const std::vector<ScopeShare>* ScopeShares::of(size_t group, uint32_t function) const {
  const auto found = shares_[group].find(function);
  return found == shares_[group].end() ? nullptr : &found->second;
}

}  // namespace gpufl::analysis
