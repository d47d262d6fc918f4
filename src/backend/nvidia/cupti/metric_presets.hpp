// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/metric_catalog.hpp"

// What is counted, as sets that answer a question each.
namespace gpufl::backend {

// What a user chooses metrics by.
struct MetricOption {
  const char* name;  // "range_metrics"
  std::span<const MetricSet> presets;
};
MetricOption sass_option();   // of counters by instruction
MetricOption range_option();  // of hardware counters by scope
MetricOption pm_option();     // of hardware counters over time, each set for one pass

// Names of metrics and of presets ("efficiency") as names of metrics, each once. What is neither
// stays as it is: the GPU knows its metrics.
std::vector<std::string> resolve_metrics(std::span<const MetricSet> presets,
                                         std::span<const std::string> wanted);
// "efficiency, execution"
std::string preset_names(std::span<const MetricSet> presets);

}  // namespace gpufl::backend
