// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backend/backend.hpp"

// The program's NVTX marks and ranges as rows of the log. Needs neither CUDA nor CUPTI. `gate` and
// `stacks`, which takes those of a framework's ranges, may be null. One session at a time can start
// its own.
namespace gpufl::backend {

std::unique_ptr<MarkerSource> make_nvtx_marker_source(CaptureGate* gate,
                                                      StackRecorder* stacks = nullptr);

}  // namespace gpufl::backend
