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
inline constexpr std::string_view kTraceEngine = "Trace";
inline constexpr std::string_view kSamplingEngine = "PcSampling";

// Whether tracing can be had, and sampling beside it.
struct EngineSupport {
  backend::Availability trace, sampling;
};
inline EngineSupport everything_supported() { return {{true, {}, {}, {}}, {true, {}, {}, {}}}; }

// Falls from `asked` to the next engine that exists here and costs no more, which is the note's
// `got`. `backend`: whose engine it is; empty: of none.
format::Capability choose_engine(std::string_view asked, const EngineSupport& support,
                                 std::string_view backend = {});

// Whether `asked`, or what it falls to in this version, samples the program counter.
bool takes_samples(std::string_view asked);

// `features` are the names of options that the user turned on by hand: those that `engine`, the
// highest of the session's, does not serve.
std::vector<format::Capability> unserved_features(std::string_view engine,
                                                  const std::vector<std::string>& features);

// Every engine's name, in the order of gpufl::ProfilingEngine.
std::span<const std::string_view> engine_names();

}  // namespace gpufl::capture
