// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/session/session_data.hpp"

// The sessions of a program that ran once with each of several engines, as one session for each of
// its processes.
namespace gpufl::analysis {

// A process gets the session of the cheapest pass it is in, and everything of that: times, scopes,
// waits. Into it come the rows of samples, of counts by instruction and of hardware counters of
// ranges from the passes that recorded them: their functions by name, their scopes by path and
// order. Their times stay those of their own pass, and calls they name are left out. Sessions that
// are no passes stay as they are.
void merge_passes(RunData& run);

}  // namespace gpufl::analysis
