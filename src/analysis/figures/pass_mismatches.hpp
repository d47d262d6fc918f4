// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/session/passes.hpp"
#include "analysis/session/session_data.hpp"

// Whether a process did the same in every pass: kernels by name and path of scope, and the order in
// which each thread launched them. Pure; time is that of sorting the kernels.
namespace gpufl::analysis {

// Fills `launches`, `order` and `uncompared` of `merged`, whose `list` and `times` are set.
// `sessions`: of the process, by pass; null: it has none there.
void find_mismatches(const std::vector<const SessionData*>& sessions, MergedPasses& merged);

}  // namespace gpufl::analysis
