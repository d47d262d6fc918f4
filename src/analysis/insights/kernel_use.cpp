// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/kernel_use.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace gpufl::analysis {
namespace {

std::optional<int64_t> blocks_at_once(const LaunchConfig& config, std::optional<int64_t> sm_count) {
  if (!sm_count || *sm_count <= 0 || config.occupancy_limits.empty()) return std::nullopt;
  const auto least =
      std::min_element(config.occupancy_limits.begin(), config.occupancy_limits.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (least->second <= 0) return std::nullopt;
  return saturating_multiply(*sm_count, least->second);
}

}  // namespace

std::vector<KernelUse> kernel_uses(const SessionView& view) {
  std::vector<KernelUse> uses;
  if (!view.overview.kernels) return uses;
  const Kernels& kernels = view.tables.kernels;
  std::vector<int64_t> devices(view.tables.configs.size(), INT64_MIN);
  for (size_t row = 0; row < kernels.rows(); ++row) {
    int64_t& device = devices[kernels.config[row]];
    if (device == INT64_MIN) device = view.device_of(kernels, row);
  }
  for (const KernelGroup& group : view.overview.kernels->by_config) {
    if (group.is_rest) continue;
    const auto id = static_cast<uint32_t>(group.key);
    KernelUse use;
    use.group = &group;
    use.config = &view.tables.config(id);
    use.label = view.kernel_names().of(use.config->name).short_name;
    use.device = devices[id];
    const DeviceBusy* busy = view.overview.device(use.device);
    const double side_by_side =
        busy == nullptr || busy->kernel_sum_ns <= 0
            ? 1
            : static_cast<double>(busy->kernel_ns) / static_cast<double>(busy->kernel_sum_ns);
    use.time_ns = static_cast<double>(group.duration_ns.total) * std::min(1.0, side_by_side);
    use.share = use.time_ns / static_cast<double>(view.wall_ns);
    use.sm_count = view.fact(use.device, "sm_count");
    use.blocks_at_once = blocks_at_once(*use.config, use.sm_count);
    uses.push_back(std::move(use));
  }
  return uses;
}

Evidence at_kernel(const KernelUse& use, std::string text) {
  Evidence evidence;
  evidence.text = std::move(text);
  evidence.kernel = use.group->full_name;
  evidence.device = use.device;
  return evidence;
}

std::string shape_text(const LaunchConfig& config) {
  return fmt::format("grid {}, block {}", fmt::join(config.grid, "x"),
                     fmt::join(config.block, "x"));
}

}  // namespace gpufl::analysis
