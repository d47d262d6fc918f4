// SPDX-License-Identifier: Apache-2.0
#pragma once

// `occupancy` of a launch configuration (SPEC.md, "config"): hundredths of a percent in the log,
// and from 0 to 1 wherever people read it.
namespace gpufl::format {

inline constexpr double kWholeOccupancy = 10'000;

}  // namespace gpufl::format
