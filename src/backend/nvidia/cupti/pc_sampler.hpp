// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backend/nvidia/cupti/context_worker.hpp"

// PC sampling in windows beside the records. CUPTI knows only functions that are launched for the
// first time, or loaded, while both records and sampling are on, and takes records first: so
// contexts that are in use when tracing begins are attached behind the same gate as the records.
namespace gpufl::backend {

std::shared_ptr<ContextWorker> make_pc_sampler(const EnginePlace& place,
                                               const PcSamplingOptions& options);

}  // namespace gpufl::backend
