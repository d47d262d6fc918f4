// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "analysis/math/ratio_estimate.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"

// Samples of the program counter, weighted by the time of the run that their windows stand for.
// Windows of one attachment lie close together: those are the clusters. Pure functions; time is
// that of sorting the rows.
namespace gpufl::analysis {

struct FunctionSums {
  WholeSums whole;                            // of its own samples
  PartSums of_all;                            // of those of all functions
  std::map<std::string, PartSums> of_stalls;  // of its own, by reason
  // As many samples of equal weight would tell as much; 0: none at all.
  double effective_samples() const {
    return squared_weights <= 0 ? 0 : weighted * weighted / squared_weights;
  }
  double weighted = 0, squared_weights = 0;  // sums over its samples
  bool is_of_run = true;                     // false: only of windows that somebody asked for
};

struct WindowSums {
  WholeSums all;
  std::unordered_map<uint32_t, FunctionSums> functions;
};
WindowSums window_sums(const SessionData& session, const AnalysisOptions& options);

}  // namespace gpufl::analysis
