// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "format/capability.hpp"
#include "format/engines.hpp"

// Which engine runs when one is asked for, and which of the wanted features it serves. Pure.
namespace gpufl::capture {

using format::kDeepEngine;
using format::kMonitorEngine;
using format::kPmEngine;
using format::kRangeEngine;
using format::kSamplingEngine;
using format::kSassEngine;
using format::kTraceEngine;

// Whether tracing can be had, sampling beside it, and the engine's counters beside it or in turns.
struct EngineSupport {
  backend::Availability trace, sampling, counting;
};
inline EngineSupport everything_supported() {
  return {{true, {}, {}, {}}, {true, {}, {}, {}}, {true, {}, {}, {}}};
}

// Falls from `asked` to the next engine that exists here and costs no more, which is the note's
// `got`. `backend`: whose engine it is; empty: of none.
format::Capability choose_engine(std::string_view asked, const EngineSupport& support,
                                 std::string_view backend = {});

// Whether `asked`, or what it falls to in this version, samples the program counter, and which
// engine of its turns has counters in the place of records; empty: none.
bool takes_samples(std::string_view asked);
std::string_view counting_engine(std::string_view asked);

// Whether there is something of it to attach in a deep window.
bool has_deep_windows(std::string_view engine);

// Of an engine that takes turns with another one, what a phase is to be of most of the time.
std::string_view base_engine(std::string_view engine);
// And what the session's first one is to be: hardware counters need nothing to have run before.
std::string_view first_engine(std::string_view engine);
// `options` as a phase of that engine has them.
backend::TraceOptions phase_options(const backend::TraceOptions& options, std::string_view engine);

// `features` are the names of options that the user turned on by hand: those that `engine`, the
// highest of the session's, does not serve.
std::vector<format::Capability> unserved_features(std::string_view engine,
                                                  const std::vector<std::string>& features);

// Every engine's name, in the order of gpufl::ProfilingEngine.
std::span<const std::string_view> engine_names();

}  // namespace gpufl::capture
