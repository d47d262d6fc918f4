// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/session/scope_paths.hpp"
#include "analysis/session/selection.hpp"
#include "analysis/tables/tables.hpp"

// Pure functions.
namespace gpufl::analysis {

// How long GPUs were busy with work that was asked for in each path or inside of it, by number of
// path: the sum over devices, on each of which work that overlaps counts once.
std::vector<int64_t> scope_busy_times(const Tables& tables, const Selection& selection,
                                      const ScopePaths& paths);
// The path of each of Tables::callers; kNoRow: none.
std::vector<uint32_t> paths_of_callers(const Tables& tables, const ScopePaths& paths);

}  // namespace gpufl::analysis
