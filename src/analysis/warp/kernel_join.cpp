// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/kernel_join.hpp"

#include <unordered_set>

namespace gpufl::analysis {

KernelJoin::KernelJoin(const Tables& tables) : tables_(tables) {
  const Kernels& kernels = tables.kernels;
  std::unordered_set<int64_t> wanted;
  for (const format::WarpLaunch& launch : tables.warp_launches) wanted.insert(launch.correlation);
  wanted.erase(0);
  if (wanted.empty() || kernels.correlation.empty()) return;
  for (uint32_t row = 0; row < kernels.rows(); ++row) {
    const int64_t correlation = kernels.correlation[row];
    if (wanted.contains(correlation)) rows_.emplace(correlation, row);
  }
}

uint32_t KernelJoin::find(const format::WarpLaunch& launch) const {
  const auto [begin, end] = rows_.equal_range(launch.correlation);
  for (auto at = begin; at != end; ++at) {
    const int64_t device = tables_.lanes[tables_.kernels.lane[at->second]].device;
    if (launch.device < 0 || device < 0 || device == launch.device) return at->second;
  }
  return kNoRow;
}

}  // namespace gpufl::analysis
