// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backend/backend.hpp"

// The program's marks and ranges as rows of the log, whichever vendor's API brings them to the
// recorder (Backend::offer_markers). `gate` is told of ranges and outlives the source; `stacks`
// takes those of a framework's ranges and is never destroyed; either may be null. One session at a
// time can start its own.
namespace gpufl::backend {

std::unique_ptr<MarkerSource> make_marker_source(CaptureGate* gate,
                                                 StackRecorder* stacks = nullptr);

}  // namespace gpufl::backend
