// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/coverage.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/figures/phases.hpp"
#include "analysis/figures/recorded_time.hpp"
#include "analysis/math/pause_weights.hpp"
#include "analysis/session/selection.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

Interval whole_of(const SessionData& session, const AnalysisOptions& options) {
  const Interval window = options.window.value_or(Selection::kAlways);
  return {std::max<int64_t>(window.start, 0), std::min(window.end, session.summary.duration_ns)};
}

// What kernels of each name took of each phase, as sums over phases.
class KernelSums {
 public:
  explicit KernelSums(const Tables& tables) : tables_(tables), in_phase_(tables.names.size() + 1) {}

  void add(size_t kernel_row) {
    const uint32_t name =
        std::min<uint32_t>(tables_.config(tables_.kernels.config[kernel_row]).name,
                           static_cast<uint32_t>(tables_.names.size()));
    const auto duration_ns =
        static_cast<double>(std::max<int64_t>(0, tables_.kernels.duration[kernel_row]));
    if (in_phase_[name] == 0) names_.push_back(name);
    in_phase_[name] += duration_ns;
    kernel_ns_ += duration_ns;
  }
  void end_phase(const Interval& phase, const ByPauseRule& stands_for_ns) {
    const auto length_ns = static_cast<double>(phase.length());
    Cluster cluster;
    Piece of_kernels{0, kernel_ns_}, of_time{0, length_ns};
    for (size_t rule = 0; rule < kPauseRules; ++rule) {
      cluster.seen[rule] = length_ns / std::max(length_ns, stands_for_ns[rule]);
      of_kernels.weight[rule] = of_time.weight[rule] = stands_for_ns[rule] / length_ns;
    }
    kernels.add(cluster, {&of_kernels, 1});
    time.add(cluster, {&of_time, 1});
    for (const uint32_t name : names_) {
      of_kernels.part = of_time.part = in_phase_[name];
      shares[name].add(kernels, cluster, {&of_kernels, 1});
      times[name].add(time, cluster, {&of_time, 1});
      in_phase_[name] = 0;
    }
    names_.clear();
    kernel_ns_ = 0;
  }

  WholeSums kernels, time;
  std::map<uint32_t, PartSums> shares, times;  // by name

 private:
  const Tables& tables_;
  std::vector<double> in_phase_;  // by name
  std::vector<uint32_t> names_;   // that are in it
  double kernel_ns_ = 0;
};

// Those that nobody asked for: what the run is judged by.
Intervals phases_of_the_budget(const SessionData& session, const AnalysisOptions& options) {
  const Intervals asked = asked_phases(session);
  Intervals phases;
  for (const Interval& phase : recorded_spans(session, options)) {
    const bool is_asked = std::any_of(asked.begin(), asked.end(), [&](const Interval& one) {
      return one.start < phase.end && phase.start < one.end;
    });
    if (!is_asked) phases.push_back(phase);
  }
  return phases;
}

}  // namespace

Coverage coverage(const SessionData& session, const AnalysisOptions& options) {
  Coverage found;
  const Interval whole = whole_of(session, options);
  const Intervals recorded = recorded_spans(session, options);
  found.is_budgeted = session.summary.is_budgeted();
  found.budget_ppm = session.summary.header.overhead_budget_ppm;
  found.phases = recorded.size();
  found.covered_ns = total_length(recorded);
  found.whole_ns = std::max<int64_t>(0, whole.length());
  if (const auto phases = traced_phases(session)) {
    found.is_last_inferred = phases->is_last_inferred;
  }
  return found;
}

std::string phases_text(uint64_t phases, double share) {
  return text::plural(phases, "phase") + ", which " + (phases == 1 ? "covers " : "cover ") +
         text::percent(share) + " of the session";
}

Figure<std::map<uint32_t, KernelEstimate>> kernel_estimates(const SessionData& session,
                                                            const AnalysisOptions& options) {
  const Coverage covered = coverage(session, options);
  if (!covered.is_budgeted) return Unknown{"it was not recorded within a budget", ""};
  const Selection selection(session.tables, options);
  const Kernels& kernels = session.tables.kernels;
  const Intervals phases = phases_of_the_budget(session, options);
  const auto stands_for_ns = time_stood_for(phases, {whole_of(session, options)});
  KernelSums sums(session.tables);
  size_t row = 0;
  for (size_t i = 0; i < phases.size(); ++i) {
    while (row < kernels.rows() && kernels.start[row] < phases[i].start) ++row;
    for (; row < kernels.rows() && kernels.start[row] < phases[i].end; ++row) {
      if (selection.includes(kernels, row)) sums.add(row);
    }
    sums.end_phase(phases[i], stands_for_ns[i]);
  }
  const RatioEstimator shares(sums.kernels), times(sums.time);
  if (!shares.is_known() || !times.is_known()) {
    return Unknown{"at least " + std::to_string(kMinClusters) + " phases with kernels are needed",
                   "record for longer"};
  }
  std::map<uint32_t, KernelEstimate> estimates;
  for (const auto& [name, part] : sums.shares) {
    KernelEstimate& estimate = estimates[name];
    estimate.share = *shares.of(part);
    estimate.share.high = std::min(estimate.share.high, 1.0);
    estimate.total_ns = times.of(sums.times[name])->times(static_cast<double>(covered.whole_ns));
  }
  return estimates;
}

}  // namespace gpufl::analysis
