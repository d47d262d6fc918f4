// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// What is counted, as sets that answer a question each.
namespace gpufl::backend {

struct MetricPreset {
  std::string_view name;
  std::span<const std::string_view> metrics;
};
std::span<const MetricPreset> sass_presets();   // of counters by instruction
std::span<const MetricPreset> range_presets();  // of hardware counters

// Names of metrics and of presets ("efficiency") as names of metrics, each once. What is neither
// stays as it is: the GPU knows its metrics.
std::vector<std::string> resolve_metrics(std::span<const MetricPreset> presets,
                                         std::span<const std::string> wanted);
// "efficiency, execution"
std::string preset_names(std::span<const MetricPreset> presets);

}  // namespace gpufl::backend
