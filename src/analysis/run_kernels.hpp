// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/run_overview.hpp"

// Kernels of all ranks of a run, by name. Pure function.
namespace gpufl::analysis {

struct RunKernel {
  std::string label, full_name;
  KernelClass kernel_class = KernelClass::Other;
  uint64_t count = 0;
  int64_t total_ns = 0;
  double share = 0;  // of the durations of all ranks' kernels
  // Of the ranks that tell of kernels; a rank without this one has 0.
  int64_t min_rank_ns = 0, max_rank_ns = 0;
};
// Most time first.
std::vector<RunKernel> run_kernels(const RunOverview& run);

}  // namespace gpufl::analysis
