// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backend/nvidia/cupti/context_worker.hpp"

// Hardware counters over time (CUPTI's PM sampling), beside the records, whose code that takes the
// kernels' times is counted with the kernels: docs/design/counters.md. The GPU writes samples down
// by itself; the engine's thread reads them every few milliseconds.
namespace gpufl::backend {

// `clock` and `gate` may be null.
std::shared_ptr<ContextWorker> make_pm_sampler(const EnginePlace& place,
                                               const PmSamplingOptions& options,
                                               std::shared_ptr<DeviceClock> clock,
                                               const CaptureGate* gate);

}  // namespace gpufl::backend
