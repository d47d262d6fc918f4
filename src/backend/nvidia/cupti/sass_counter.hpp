// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backend/nvidia/cupti/context_worker.hpp"

// Counters by instruction (CUPTI's SASS metrics), in the place of records, beside which they stay
// zero without an error: docs/design/counters.md. CUPTI counts once in a process and hands over
// once, so that they are read when the engine ends.
namespace gpufl::backend {

std::shared_ptr<ContextWorker> make_sass_counter(const EnginePlace& place,
                                                 const SassOptions& options);

}  // namespace gpufl::backend
