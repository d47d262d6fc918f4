// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/overview/overview.hpp"
#include "analysis/session/session_data.hpp"

// A run of several processes: the figures of each, and how evenly the work is spread.
namespace gpufl::analysis {

struct RankFigures {
  std::optional<int64_t> rank;
  std::string session_id, host;
  Overview overview;
  int64_t duration_ns = 0;
  // Of all its devices together.
  Figure<int64_t> busy_ns, kernel_ns, wait_ns, communication_ns;
  Figure<double> iteration_ns;  // median
};

// How far the slowest is from the mean of all: 0 when all are alike.
struct Imbalance {
  double mean = 0, min = 0, max = 0;
  size_t slowest = 0;  // index into RunOverview::ranks
  double share = 0;    // (max - mean) / max; 0 where max is 0
};

struct RunOverview {
  std::string id;
  std::vector<RankFigures> ranks;  // by rank, then by session
  // Unknown for fewer than two ranks that tell it.
  Figure<Imbalance> busy, compute, iteration;  // compute: kernels without communication
  std::vector<std::string> problems;
};

RunOverview analyze_run(const RunData& run, const AnalysisOptions& options = {});

}  // namespace gpufl::analysis
