// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/kernel_stalls.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/code/stall_reasons.hpp"
#include "analysis/figures/sample_rows.hpp"

namespace gpufl::analysis {

std::vector<KernelStalls> kernel_stalls(const Tables& tables, const AnalysisOptions& options) {
  std::map<std::tuple<uint32_t, uint64_t, int64_t>, KernelStalls> found;
  const SampleRows rows(tables, options);
  rows.visit([&](const SampleRow& row) {
    KernelStalls& kernel = found[{row.function, row.module, row.device}];
    for (StallCounts* const counts : {&kernel.stalls, &kernel.by_pc[row.pc]}) {
      StallCount& count = (*counts)[rows.reason(row.stall)];
      (row.is_not_issued ? count.not_issued : count.samples) += row.samples;
    }
    if (!row.is_not_issued) kernel.samples += row.samples;
  });
  std::vector<KernelStalls> kernels;
  for (auto& [key, kernel] : found) {
    std::tie(kernel.name, kernel.module, kernel.device) = key;
    kernel.function = tables.name(kernel.name);
    kernels.push_back(std::move(kernel));
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto& a, const auto& b) { return a.samples > b.samples; });
  return kernels;
}

}  // namespace gpufl::analysis
