// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_overview.hpp"

#include <algorithm>

namespace gpufl::analysis {

namespace {

RankFigures rank_figures(const SessionData& session, const AnalysisOptions& options) {
  RankFigures rank;
  rank.rank = session.summary.header.rank;
  rank.session_id = session.summary.header.session_id;
  rank.host = session.summary.header.host;
  rank.duration_ns = session.summary.duration_ns;
  rank.overview = analyze(session, options);
  for (const DeviceBusy& device : rank.overview.devices) {
    rank.busy_ns += device.busy_ns;
    rank.kernel_ns += device.kernel_ns;
  }
  if (rank.overview.waits) {
    for (const WaitGroup& group : *rank.overview.waits) rank.wait_ns += group.blocked_ns.total;
  }
  if (rank.overview.communication) {
    for (const Communication& device : *rank.overview.communication) {
      rank.communication_ns += device.communication_ns;
    }
  }
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
  if (count < 2) return Unknown{"fewer than two ranks tell it", ""};
  out.mean /= static_cast<double>(count);
  out.share = out.max <= 0 ? 0 : (out.max - out.mean) / out.max;
  return out;
}

Figure<double> compute_ns(const RankFigures& rank) {
  if (!rank.overview.kernels) return rank.overview.kernels.unknown();
  int64_t sum = rank.kernel_ns;
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
  out.busy = imbalance(out.ranks, [](const RankFigures& rank) {
    return rank.overview.kernels ? Figure<double>(static_cast<double>(rank.busy_ns))
                                 : Figure<double>(rank.overview.kernels.unknown());
  });
  out.compute = imbalance(out.ranks, compute_ns);
  out.iteration = imbalance(out.ranks, [](const RankFigures& rank) { return rank.iteration_ns; });
  return out;
}

}  // namespace gpufl::analysis
