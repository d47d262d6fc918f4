// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analysis/math/figure.hpp"
#include "analysis/math/ratio_estimate.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"

// Which part of a session was looked at, and what that says of all of it. Pure functions; time is
// linear in the kernels.
namespace gpufl::analysis {

// Of the session, or of the options' window.
struct Coverage {
  bool is_budgeted = false;
  std::optional<int64_t> budget_ppm;  // asked for
  uint64_t phases = 0;                // that have time in it
  bool is_last_inferred = false;
  int64_t covered_ns = 0, whole_ns = 0;
  double share() const {
    return whole_ns <= 0 ? 0 : static_cast<double>(covered_ns) / static_cast<double>(whole_ns);
  }
};
Coverage coverage(const SessionData& session, const AnalysisOptions& options);
// "12 phases, which cover 3.4% of the session"
std::string phases_text(uint64_t phases, double share);

// Of the whole run, from its phases.
struct KernelEstimate {
  Estimate share;     // of the durations of all kernels
  Estimate total_ns;  // durations, added up
};
// By id of Tables::names, of kernels that the options choose. Unknown where nothing is to be
// estimated, or with fewer than kMinClusters phases.
Figure<std::map<uint32_t, KernelEstimate>> kernel_estimates(const SessionData& session,
                                                            const AnalysisOptions& options);

}  // namespace gpufl::analysis
