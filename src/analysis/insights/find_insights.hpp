// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analysis/insights/insight.hpp"
#include "analysis/insights/thresholds.hpp"
#include "analysis/overview/overview.hpp"
#include "analysis/overview/run_overview.hpp"
#include "analysis/session/session_data.hpp"

// What a session shows that somebody can act on: the rules of docs/reference/insights.md. Those
// that save most come first, then the more severe. Gains of different insights may be of the same
// time and do not add up. Time is about linear in the rows; any thread.
namespace gpufl::analysis {

std::vector<Insight> find_insights(const SessionData& session, const Overview& overview,
                                   const Thresholds& thresholds = {});

// Of the run as a whole: what no single session shows.
std::vector<Insight> find_run_insights(const RunOverview& run, const Thresholds& thresholds = {});

}  // namespace gpufl::analysis
