// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

// What is counted by instruction, as sets that answer a question each.
namespace gpufl::backend {

// Names of metrics and of presets ("efficiency") as names of metrics, each once. What is neither
// stays as it is: the GPU knows its metrics.
std::vector<std::string> resolve_sass_metrics(std::span<const std::string> wanted);

}  // namespace gpufl::backend
