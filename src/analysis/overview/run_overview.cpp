// SPDX-License-Identifier: Apache-2.0
#include "analysis/overview/run_overview.hpp"

#include <algorithm>
#include <optional>

#include "analysis/math/saturating.hpp"

namespace gpufl::analysis {

namespace {

template <class T, class Part>
int64_t sum(const std::vector<T>& list, Part part) {
  int64_t total = 0;
  for (const T& entry : list) total = saturating_add(total, part(entry));
  return total;
}
template <class T, class Part>
Figure<int64_t> sum(const Figure<std::vector<T>>& list, Part part) {
  return list ? Figure<int64_t>(sum(*list, part)) : Figure<int64_t>(list.unknown());
}

RankFigures rank_figures(const SessionData& session, const AnalysisOptions& options) {
  RankFigures rank;
  rank.rank = session.summary.header.rank;
  rank.session_id = session.summary.header.session_id;
  rank.host = session.summary.header.host;
  rank.duration_ns = session.summary.duration_ns;
  rank.overview = analyze(session, options);
  const Overview& its = rank.overview;
  if (its.kernels) {
    rank.busy_ns = sum(its.devices, [](const DeviceBusy& device) { return device.busy_ns; });
    rank.kernel_ns = sum(its.devices, [](const DeviceBusy& device) { return device.kernel_ns; });
  } else {
    rank.busy_ns = rank.kernel_ns = its.kernels.unknown();
  }
  rank.wait_ns =
      sum(its.waits, [](const WaitGroup& group) { return int64_t{group.blocked_ns.total}; });
  rank.communication_ns =
      sum(its.communication, [](const Communication& device) { return device.communication_ns; });
  rank.iteration_ns = rank.overview.iterations
                          ? Figure<double>(rank.overview.iterations->duration_ns.median)
                          : Figure<double>(rank.overview.iterations.unknown());
  return rank;
}

// `tell`: a rank's Figure<double>.
template <class Tell>
Figure<Imbalance> imbalance(const std::vector<RankFigures>& ranks, Tell tell) {
  Imbalance out;
  size_t count = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Figure<double> value = tell(ranks[i]);
    if (!value) continue;
    if (count == 0 || *value > out.max) {
      out.max = *value;
      out.slowest = i;
    }
    out.min = count == 0 ? *value : std::min(out.min, *value);
    out.mean += *value;
    ++count;
  }
  if (count < 2) return Unknown{"fewer than two ranks have this figure", ""};
  out.mean /= static_cast<double>(count);
  out.share = out.max <= 0 ? 0 : (out.max - out.mean) / out.max;
  return out;
}

// Ranks with a budget are traced in phases of their own: their sums say nothing of balance.
std::optional<Unknown> without_sums(const RankFigures& rank) {
  if (!rank.overview.coverage.is_budgeted) return std::nullopt;
  return Unknown{"it was traced in phases", "record without a budget"};
}

Figure<double> busy_ns(const RankFigures& rank) {
  if (const auto unknown = without_sums(rank)) return *unknown;
  if (!rank.busy_ns) return rank.busy_ns.unknown();
  return static_cast<double>(*rank.busy_ns);
}

Figure<double> compute_ns(const RankFigures& rank) {
  if (const auto unknown = without_sums(rank)) return *unknown;
  if (!rank.kernel_ns) return rank.kernel_ns.unknown();
  int64_t sum = *rank.kernel_ns;
  if (rank.overview.communication) {
    // What communicates and computes at the same time computes.
    for (const Communication& device : *rank.overview.communication) sum -= device.exposed_ns();
  }
  return static_cast<double>(sum);
}

}  // namespace

RunOverview analyze_run(const RunData& run, const AnalysisOptions& options) {
  RunOverview out;
  out.id = run.id;
  out.problems = run.problems;
  for (const SessionData& session : run.sessions) {
    out.ranks.push_back(rank_figures(session, options));
  }
  out.busy = imbalance(out.ranks, busy_ns);
  out.compute = imbalance(out.ranks, compute_ns);
  out.iteration = imbalance(out.ranks, [](const RankFigures& rank) { return rank.iteration_ns; });
  return out;
}

}  // namespace gpufl::analysis
