// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// What is counted by instruction, as sets that answer a question each.
namespace gpufl::backend {

struct SassPreset {
  std::string_view name, what;
  std::span<const std::string_view> metrics;
};
std::span<const SassPreset> sass_presets();

// Names of metrics and of presets as names of metrics, each once. What is neither stays as it is:
// the GPU knows its metrics.
std::vector<std::string> resolve_sass_metrics(std::span<const std::string> wanted);

}  // namespace gpufl::backend
