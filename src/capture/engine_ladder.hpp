// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "format/capability.hpp"

// Which engine runs when one is asked for, and which of the wanted features it serves. Pure.
namespace gpufl::capture {

inline constexpr std::string_view kMonitorEngine = "Monitor";  // records nothing of the GPU
inline constexpr std::string_view kEngineFeature = "profiling_engine";  // in its note

struct EngineChoice {
  std::string engine;  // the one that runs
  std::vector<format::Capability>
      notes;  // first the engine's own; then one for each unserved feature
};

// Falls from `asked` to the next lower engine that exists here. `features` are the names of
// options that the user turned on by hand.
EngineChoice choose_engine(std::string_view asked, const backend::Availability& trace,
                           const std::vector<std::string>& features);

// Every engine's name, in the order of gpufl::ProfilingEngine.
std::span<const std::string_view> engine_names();

}  // namespace gpufl::capture
