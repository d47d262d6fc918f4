// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "analysis/insights/insight.hpp"
#include "analysis/overview/run_overview.hpp"

// The insights of a run's sessions as one list, for whoever reads of the run: what several ranks
// show of one place of the program is told once, with the ranks that it is of. Pure function.
namespace gpufl::analysis {

// `of_run` and those of each session, as find_run_insights() and find_insights() order them.
// Figures and evidence are those of the rank that shows it most; times are on the run's axis.
std::vector<Insight> merge_insights(const RunData& run, const RunOverview& overview,
                                    std::span<const Insight> of_run,
                                    std::span<const std::vector<Insight>> of_sessions);

}  // namespace gpufl::analysis
