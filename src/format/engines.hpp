// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

// The engines by the names that logs and options have for them, and which of them this version has:
// what recording offers, and what reports may advise, both ask here. Constant.
namespace gpufl::format {

inline constexpr std::string_view kMonitorEngine = "Monitor";  // records nothing of the GPU
inline constexpr std::string_view kTraceEngine = "Trace";
inline constexpr std::string_view kSamplingEngine = "PcSampling";
inline constexpr std::string_view kSassEngine = "SassMetrics";
inline constexpr std::string_view kRangeEngine = "RangeProfiler";
inline constexpr std::string_view kPmEngine = "PmSampling";
inline constexpr std::string_view kDeepEngine = "Deep";  // PcSampling and SassMetrics in turns

struct Engine {
  std::string_view name;
  int cost = 0;  // its rank by what it costs the program; the cheapest is 0
  bool is_here = false;
};

// In the order of gpufl::ProfilingEngine; each level adds to those before it.
inline constexpr std::array kEngines = {
    Engine{kMonitorEngine, 0, true},  Engine{kTraceEngine, 1, true},
    Engine{kSamplingEngine, 3, true}, Engine{kSassEngine, 6, true},
    Engine{kRangeEngine, 4, true},    Engine{kDeepEngine, 7, true},
    Engine{kPmEngine, 2, true},       Engine{"RangeProfilerKernelReplay", 5},
};

// While it is attached its counters are in the place of the kernels' records.
constexpr bool replaces_records(std::string_view name) {
  return name == kSassEngine || name == kRangeEngine;
}

constexpr bool has_engine(std::string_view name) {
  for (const Engine& engine : kEngines) {
    if (engine.name == name) return engine.is_here;
  }
  return false;
}

}  // namespace gpufl::format
