// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figures/kernel_stalls.hpp"
#include "analysis/insights/session_view.hpp"

// What the deeper engines recorded of each kernel: samples by stall reason, and counters that were
// summed over its instructions.
namespace gpufl::analysis {

struct SampledKernel {
  std::string function;  // as the log has it
  std::string name;      // demangled, whole
  std::string label;     // short
  // Of all its launches on the GPU on which they take longest; 0 and -1: they were not recorded.
  double time_ns = 0;
  int64_t device = -1;
  double share = 0;                   // of the session's time
  std::optional<size_t> longest_row;  // of Tables::kernels
  uint64_t samples = 0;
  StallCounts stalls;
  std::map<std::string, int64_t, std::less<>> counters;  // "smsp__sass_inst_executed"

  // Of all samples; none: it was not sampled.
  std::optional<double> stall_share(std::initializer_list<std::string_view> reasons) const;
  // None: not recorded, or nothing happened.
  std::optional<double> counter(std::string_view metric) const;
};
// Most time first; empty where no deeper engine ran.
std::vector<SampledKernel> sampled_kernels(const SessionView& view);

}  // namespace gpufl::analysis
