// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analysis/math/figure.hpp"
#include "analysis/math/series.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"
#include "analysis/summary/counters.hpp"
#include "analysis/summary/metric_series.hpp"

// Sampled values over time: GPUs, host, and the program's own counters. Pure functions, linear in
// the samples.
namespace gpufl::analysis {

struct MetricFigures : MetricSeries {
  Series series;  // of the values; of counters (is_cumulative) what they grew by, per second
};
// Host first, then by device; each by metric and index. Options' device and window count, not
// scope.
std::vector<MetricFigures> system_metrics(const SessionData& session,
                                          const AnalysisOptions& options);

struct CounterFigures : CounterTotal {
  Series rate;  // per second
};
std::vector<CounterFigures> counter_figures(const SessionData& session,
                                            const AnalysisOptions& options);

}  // namespace gpufl::analysis
