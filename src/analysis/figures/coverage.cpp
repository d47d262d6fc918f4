// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/coverage.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/figures/phases.hpp"
#include "analysis/figures/recorded_time.hpp"
#include "analysis/session/selection.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

Interval whole_of(const SessionData& session, const AnalysisOptions& options) {
  const Interval window = options.window.value_or(Selection::kAlways);
  return {std::max<int64_t>(window.start, 0), std::min(window.end, session.summary.duration_ns)};
}

// What kernels of each name took of each cluster, as sums over clusters.
class KernelSums {
 public:
  explicit KernelSums(const Tables& tables)
      : tables_(tables), in_cluster_(tables.names.size() + 1) {}

  void add(size_t kernel_row) {
    const uint32_t name =
        std::min<uint32_t>(tables_.config(tables_.kernels.config[kernel_row]).name,
                           static_cast<uint32_t>(tables_.names.size()));
    const auto duration_ns =
        static_cast<double>(std::max<int64_t>(0, tables_.kernels.duration[kernel_row]));
    if (in_cluster_[name] == 0) names_.push_back(name);
    in_cluster_[name] += duration_ns;
    kernel_ns_ += duration_ns;
  }
  void end_cluster(double length_ns) {
    for (const uint32_t name : names_) {
      of_kernels[name].add(in_cluster_[name], kernel_ns_);
      of_time[name].add(in_cluster_[name], length_ns);
      in_cluster_[name] = 0;
    }
    kernels.add(kernel_ns_);
    time.add(length_ns);
    names_.clear();
    kernel_ns_ = 0;
  }

  WholeSums kernels, time;
  std::map<uint32_t, PartSums> of_kernels, of_time;  // by name

 private:
  const Tables& tables_;
  std::vector<double> in_cluster_;  // by name
  std::vector<uint32_t> names_;     // that are in it
  double kernel_ns_ = 0;
};

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
  const Intervals recorded = recorded_spans(session, options);
  const Selection selection(session.tables, options);
  const Kernels& kernels = session.tables.kernels;
  const Intervals asked = asked_phases(session);
  const auto is_asked = [&](const Interval& phase) {
    return std::any_of(asked.begin(), asked.end(), [&](const Interval& one) {
      return one.start < phase.end && phase.start < one.end;
    });
  };
  KernelSums sums(session.tables);
  size_t row = 0;
  for (const Interval& phase : recorded) {
    if (is_asked(phase)) continue;
    while (row < kernels.rows() && kernels.start[row] < phase.start) ++row;
    for (; row < kernels.rows() && kernels.start[row] < phase.end; ++row) {
      if (kernels.start[row] >= phase.start && selection.includes(kernels, row)) sums.add(row);
    }
    sums.end_cluster(static_cast<double>(phase.length()));
  }
  if (sums.kernels.clusters < kMinClusters) {
    return Unknown{"at least " + std::to_string(kMinClusters) + " phases with kernels are needed",
                   "record for longer"};
  }
  const RatioEstimator shares(sums.kernels, covered.share());
  const RatioEstimator times(sums.time, covered.share());
  std::map<uint32_t, KernelEstimate> estimates;
  for (const auto& [name, part] : sums.of_kernels) {
    KernelEstimate& estimate = estimates[name];
    estimate.share = *shares.of(part);
    estimate.share.high = std::min(estimate.share.high, 1.0);
    estimate.total_ns = times.of(sums.of_time[name])->times(static_cast<double>(covered.whole_ns));
  }
  return estimates;
}

}  // namespace gpufl::analysis
