// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one kernel that we launch ourselves: who reads the GPU's timer loads it by this name, and who
// decodes records leaves it out of the program's.
namespace gpufl::backend {

inline constexpr char kOwnKernel[] = "gpufl_read_globaltimer";

}  // namespace gpufl::backend
