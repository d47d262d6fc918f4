// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_kernels.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace gpufl::analysis {

std::vector<RunKernel> run_kernels(const RunOverview& run) {
  std::map<std::string_view, RunKernel> by_name;
  std::map<std::string_view, uint64_t> ranks_with;
  uint64_t ranks = 0;
  int64_t all_ns = 0;
  for (const RankFigures& rank : run.ranks) {
    if (!rank.overview.kernels) continue;
    ++ranks;
    all_ns = saturating_add(all_ns, rank.overview.kernels->total_ns);
    for (const KernelGroup& group : rank.overview.kernels->by_name) {
      RunKernel& kernel = by_name[group.full_name];
      const int64_t rank_ns = group.duration_ns.total;
      if (ranks_with[group.full_name]++ == 0) {
        kernel = {group.label, group.full_name, group.kernel_class, 0, 0, 0, rank_ns, rank_ns};
      }
      kernel.count += group.duration_ns.count;
      kernel.total_ns = saturating_add(kernel.total_ns, rank_ns);
      kernel.min_rank_ns = std::min(kernel.min_rank_ns, rank_ns);
      kernel.max_rank_ns = std::max(kernel.max_rank_ns, rank_ns);
    }
  }
  std::vector<RunKernel> kernels;
  for (auto& [name, kernel] : by_name) {
    if (ranks_with[name] < ranks) kernel.min_rank_ns = 0;
    kernel.share =
        all_ns > 0 ? static_cast<double>(kernel.total_ns) / static_cast<double>(all_ns) : 0;
    kernels.push_back(std::move(kernel));
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const RunKernel& a, const RunKernel& b) { return a.total_ns > b.total_ns; });
  return kernels;
}

}  // namespace gpufl::analysis
