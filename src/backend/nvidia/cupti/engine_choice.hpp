// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "backend/nvidia/cupti/context_worker.hpp"

// Which engine a tracer has beside its records, or in their place: its options ask for one at most.
namespace gpufl::backend {

std::string_view engine_name(const TraceOptions& options);
// Whether it can be had, as far as that is known before it is attached. `has_callbacks`: CUPTI's
// are ours.
Availability engine_support(const CuptiLibrary& cupti, const TraceOptions& options,
                            bool has_callbacks);
std::shared_ptr<ContextWorker> make_worker(const EnginePlace& place, const TraceOptions& options);

}  // namespace gpufl::backend
