// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/figures/sample_windows.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"

// How samples of kernels divide among the innermost scopes, where their rows name none: as the
// kernel's traced time does while they were taken. Time is linear in the kernels. Any thread.
namespace gpufl::analysis {

struct ScopeShare {
  uint32_t path = 0;  // of SessionData::scope_paths(); kNoRow: in none
  double share = 0;   // those of a function add up to 1
};

class ScopeShares {
 public:
  ScopeShares(const SessionData& session, const AnalysisOptions& options);

  // Samples of different groups are taken of different kernels. 0: of windows that the schedule
  // spread over the phases, so that time between them counts too; others: of a deep scope's
  // windows, and of what ran in those alone.
  size_t group_of(const SampleRow& row) const { return windows_.stretch_of(row); }
  // Null: none of the function's kernels was traced meanwhile.
  const std::vector<ScopeShare>* of(size_t group, uint32_t function) const;

 private:
  const SampleWindows windows_;
  std::vector<std::unordered_map<uint32_t, std::vector<ScopeShare>>> shares_;  // by group
};

}  // namespace gpufl::analysis
