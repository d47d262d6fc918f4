// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

// The engines by the names that logs and options have for them, and which of them this version has:
// what recording offers, and what reports may advise, both ask here. Constant.
namespace gpufl::format {

struct Engine {
  std::string_view name;
  bool is_here = false;
};

// In the order of gpufl::ProfilingEngine; each level adds to those before it.
inline constexpr std::array kEngines = {
    Engine{"Monitor", true},    Engine{"Trace", true},
    Engine{"PcSampling", true}, Engine{"SassMetrics"},
    Engine{"RangeProfiler"},    Engine{"Deep"},
    Engine{"PmSampling"},       Engine{"RangeProfilerKernelReplay"},
};

constexpr bool has_engine(std::string_view name) {
  for (const Engine& engine : kEngines) {
    if (engine.name == name) return engine.is_here;
  }
  return false;
}

}  // namespace gpufl::format
