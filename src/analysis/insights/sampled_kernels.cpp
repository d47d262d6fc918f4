// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/sampled_kernels.hpp"

#include <algorithm>
#include <utility>

#include "analysis/code/kernel_name.hpp"
#include "analysis/insights/kernel_use.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::analysis {
namespace {

void add_samples(const SessionView& view, std::map<int64_t, SampledKernel>& kernels) {
  if (!view.overview.stalls) return;
  for (const SampledFunction& function : view.overview.stalls->functions) {
    SampledKernel& kernel = kernels[function.name];
    kernel.samples = function.samples;
    for (const StallShare& stall : function.stalls) kernel.stalls[stall.reason] = stall.count;
  }
}

void add_counters(const SessionView& view, std::map<int64_t, SampledKernel>& kernels) {
  namespace column = format::sass_metric_column;
  const auto found = view.tables.others.find(format::Kind::SassMetric);
  if (found == view.tables.others.end()) return;
  const format::Batch& rows = found->second;
  for (size_t row = 0; row < rows.rows(); ++row) {
    const std::string& metric =
        view.tables.metric(static_cast<uint32_t>(rows.at(column::kMetric, row)));
    int64_t& sum = kernels[rows.at(column::kFunction, row)].counters[metric];
    sum = saturating_add(sum, rows.at(column::kValue, row));
  }
}

}  // namespace

std::optional<double> SampledKernel::stall_share(
    std::initializer_list<std::string_view> reasons) const {
  if (samples == 0) return std::nullopt;
  uint64_t of_these = 0;
  for (const std::string_view reason : reasons) {
    const auto found = stalls.find(reason);
    if (found != stalls.end()) of_these += found->second.samples;
  }
  return static_cast<double>(of_these) / static_cast<double>(samples);
}

std::optional<double> SampledKernel::counter(std::string_view metric) const {
  const auto found = counters.find(metric);
  if (found == counters.end() || found->second <= 0) return std::nullopt;
  return static_cast<double>(found->second);
}

std::vector<SampledKernel> sampled_kernels(const SessionView& view) {
  std::map<int64_t, SampledKernel> by_name;
  add_samples(view, by_name);
  add_counters(view, by_name);
  if (by_name.empty()) return {};
  const std::vector<LongestTime> times = times_by_name(view);
  std::vector<SampledKernel> kernels;
  for (auto& [name, kernel] : by_name) {
    if (name >= 0 && static_cast<size_t>(name) < times.size()) {
      const LongestTime& longest = times[static_cast<size_t>(name)];
      kernel.time_ns = longest.time_ns;
      kernel.device = longest.device;
      if (longest.launches > 0) kernel.longest_row = longest.longest_row;
      kernel.share = kernel.time_ns / static_cast<double>(view.wall_ns);
    }
    kernel.function = view.tables.name(static_cast<uint32_t>(name));
    kernel.name = symbols::demangle(kernel.function);
    kernel.label = short_kernel_name(kernel.name);
    kernels.push_back(std::move(kernel));
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
  return kernels;
}

}  // namespace gpufl::analysis
