// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backend/nvidia/cupti/context_worker.hpp"

// Hardware counters by scope (CUPTI's range profiler), in the place of records, beside which they
// count the code that takes the kernels' times as well: docs/design/counters.md. Scopes of the
// program stop while their range opens and closes (scope_stops.hpp). Ends its turn by itself once
// every scope that begins has all its passes.
namespace gpufl::backend {

std::shared_ptr<ContextWorker> make_range_profiler(const EnginePlace& place,
                                                   const RangeOptions& options);

}  // namespace gpufl::backend
