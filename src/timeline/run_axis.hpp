// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/session/session_data.hpp"

// What the sessions of a run share in a timeline: one axis of time, and process ids that tell them
// apart. Pure functions; any thread.
namespace gpufl::timeline {

// Nanoseconds to add to the session's times.
int64_t offset_of(const analysis::RunData& run, size_t session);

// The first time of all on the axis; at most 0.
int64_t first_time(const analysis::RunData& run);

// CLOCK_MONOTONIC and the wall clock at 0 of the axis, by the clocks of the earliest session; 0: it
// does not tell.
struct AxisClocks {
  int64_t monotonic_ns = 0, wall_ns = 0;
};
AxisClocks axis_clocks(const analysis::RunData& run);

// Each session's pid, where it is not that of one before it: processes in several containers or
// machines share numbers. Those get a free one.
std::vector<int64_t> distinct_pids(const analysis::RunData& run);

// All rows that a timeline shows.
uint64_t timeline_rows(const analysis::RunData& run);

}  // namespace gpufl::timeline
