// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/overview/run_overview.hpp"

// What all ranks of a run did together: kernels by name, scopes by path, copies by direction and
// waits by call. Ranks that do not tell of a kind are not in it. Pure functions.
namespace gpufl::analysis {

// Things of one name, over all ranks.
struct RunGroup {
  std::string label;
  uint64_t count = 0;
  int64_t total_ns = 0;
  // Of the ranks that tell of such things; a rank without this one has 0.
  int64_t min_rank_ns = 0, max_rank_ns = 0;
};

struct RunKernel : RunGroup {
  std::string full_name;
  KernelClass kernel_class = KernelClass::Other;
  double share = 0;  // of the durations of all ranks' kernels
};
// Most time first.
std::vector<RunKernel> run_kernels(const RunOverview& run);

struct RunScope : RunGroup {    // count and times of the scopes that have ended
  int64_t gpu_ns = 0;           // of what was launched in them
  bool is_lower_bound = false;  // a rank has lost scopes, of whatever path
};
// By path; most time first.
std::vector<RunScope> run_scopes(const RunOverview& run);

struct RunCopies : RunGroup {
  int64_t bytes = 0;
  uint64_t sized = 0;  // copies that tell their bytes
};
// By direction; most time first.
std::vector<RunCopies> run_copies(const RunOverview& run);

// By call; most time first.
std::vector<RunGroup> run_waits(const RunOverview& run);

}  // namespace gpufl::analysis
