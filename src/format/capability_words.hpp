// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "format/capability.hpp"

// A capability line for people: "profiling engine: asked for Trace, got Monitor", "markers: asked
// for, not available". Detail and hint are the caller's to add. Pure functions.
namespace gpufl::format {

std::string feature_words(const Capability& note);
std::string outcome_words(const Capability& note);

}  // namespace gpufl::format
