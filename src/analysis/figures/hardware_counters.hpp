// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/math/distribution.hpp"
#include "analysis/math/series.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"

// Counters of a GPU's hardware: summed over ranges and kernels (`range_metric`), and sampled over
// time (`pm_sample`). Options' device and window count, not scope. Pure functions, linear in rows.
namespace gpufl::analysis {

// One value for each time that the range was counted with the metric: a range that runs often may
// be counted with other metrics each time.
struct RangeCounter {
  std::string metric;
  Distribution values;
};

struct CountedRange {
  std::string name;   // of the range, or of the kernel: demangled
  std::string label;  // short
  int64_t device = -1;
  std::vector<RangeCounter> counters;  // by name of the metric

  // Of one run of the range; none: it was not counted.
  std::optional<double> mean(std::string_view metric) const;
};
// In the order in which they were first counted.
std::vector<CountedRange> counted_ranges(const SessionData& session,
                                         const AnalysisOptions& options);

struct SampledCounter {
  int64_t device = -1;
  std::string metric;
  Distribution values;
  int64_t sampled_ns = 0;  // how long all samples are together
  Series series;           // means are weighted by time; what was not sampled has no point
};
// By device, then by name of the metric.
std::vector<SampledCounter> sampled_counters(const SessionData& session,
                                             const AnalysisOptions& options);

}  // namespace gpufl::analysis
