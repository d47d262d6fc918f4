// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/kernel_use.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

std::optional<int64_t> blocks_at_once(const LaunchConfig& config,
                                      std::optional<int64_t> compute_units) {
  if (!compute_units || *compute_units <= 0 || config.occupancy_bounds.empty()) return std::nullopt;
  const auto least =
      std::min_element(config.occupancy_bounds.begin(), config.occupancy_bounds.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (least->second <= 0) return std::nullopt;
  return saturating_multiply(*compute_units, least->second);
}

// `key_of` gives the number, below `keys`, that a row counts for.
template <typename KeyOf>
std::vector<LongestTime> longest_times(const SessionView& view, size_t keys, KeyOf key_of) {
  const Kernels& kernels = view.tables.kernels;
  std::map<int64_t, std::vector<DeviceTime>> by_device;
  for (size_t row = 0; row < kernels.rows(); ++row) {
    if (!view.selection.includes(kernels, row)) continue;
    std::vector<DeviceTime>& times = by_device[view.device_of(kernels, row)];
    times.resize(keys);
    DeviceTime& time = times[key_of(kernels.config[row])];
    if (time.launches++ == 0 || kernels.duration[row] > kernels.duration[time.longest_row]) {
      time.longest_row = row;
    }
    time.time_ns += static_cast<double>(kernels.duration[row]);
  }
  std::vector<LongestTime> longest(keys);
  for (auto& [device, times] : by_device) {
    const DeviceBusy* busy = view.overview.device(device);
    const double side_by_side =
        busy == nullptr || busy->kernel_sum_ns <= 0
            ? 1
            : static_cast<double>(busy->kernel_ns) / static_cast<double>(busy->kernel_sum_ns);
    for (size_t key = 0; key < keys; ++key) {
      DeviceTime& time = times[key];
      if (time.launches == 0) continue;
      time.device = device;
      time.time_ns *= std::min(1.0, side_by_side);
      const size_t devices = longest[key].devices + 1;
      if (devices == 1 || time.time_ns > longest[key].time_ns) longest[key] = {time, 0};
      longest[key].devices = devices;
    }
  }
  return longest;
}

}  // namespace

std::vector<LongestTime> times_by_config(const SessionView& view) {
  return longest_times(view, view.tables.configs.size(), [](uint32_t config) { return config; });
}

std::vector<LongestTime> times_by_name(const SessionView& view) {
  return longest_times(view, view.tables.names.size() + 1,
                       [&](uint32_t config) { return view.tables.config(config).name; });
}

std::vector<KernelUse> kernel_uses(const SessionView& view, double min_share) {
  std::vector<KernelUse> uses;
  if (!view.overview.kernels) return uses;
  const std::vector<LongestTime> times = times_by_config(view);
  for (const KernelGroup& group : view.overview.kernels->by_config) {
    if (group.is_rest) continue;
    const auto id = static_cast<uint32_t>(group.key);
    const double share = times[id].time_ns / static_cast<double>(view.wall_ns);
    if (share < min_share) continue;
    KernelUse use;
    use.group = &group;
    use.config = &view.tables.config(id);
    use.label = view.session.kernel_names().of(use.config->name).short_name;
    use.longest = times[id];
    use.share = share;
    use.compute_units = view.fact(use.longest.device, "compute_units");
    use.blocks_at_once = blocks_at_once(*use.config, use.compute_units);
    uses.push_back(std::move(use));
  }
  std::stable_sort(uses.begin(), uses.end(), [](const KernelUse& a, const KernelUse& b) {
    return a.longest.time_ns > b.longest.time_ns;
  });
  return uses;
}

void add_launch(const SessionView& view, size_t kernel_row, Evidence& evidence) {
  const Kernels& kernels = view.tables.kernels;
  evidence.start_ns = kernels.start[kernel_row];
  evidence.end_ns = kernels.end(kernel_row);
  evidence.text += fmt::format(", the longest {}",
                               text::duration(static_cast<double>(kernels.duration[kernel_row])));
}

Evidence at_kernel(const SessionView& view, const KernelUse& use) {
  Evidence evidence;
  evidence.text = text::plural(use.longest.launches, "launch");
  if (use.longest.devices > 1) {
    evidence.text +=
        fmt::format(", on the one of {} GPUs that they take longest on", use.longest.devices);
  }
  evidence.kernel = use.group->full_name;
  evidence.device = use.longest.device;
  add_launch(view, use.longest.longest_row, evidence);
  return evidence;
}

std::string shape_text(const LaunchConfig& config) {
  return fmt::format("grid {}, block {}", fmt::join(config.grid, "x"),
                     fmt::join(config.block, "x"));
}

}  // namespace gpufl::analysis
