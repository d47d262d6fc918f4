// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "backend/nvidia/cuda/cuda_driver.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"

// The Trace engine on NVIDIA: CUPTI's activity records, decoded on the collector's thread. One at a
// time in a process. After stop() the last drain() reads what is left and then gives CUPTI up
// entirely (cuptiFinalize), so that the program runs at its old speed; only where nobody else can
// be using the same CUPTI: it accepted our subscription, which excludes every other, and our
// records still came to us.
namespace gpufl::backend {

// Whether a tracer that starts now should wait for the program to initialise CUDA, and only then
// look for a libcupti: the program may be about to bring its own. Not when it has done either, nor
// when nobody could tell us (cuda_start.hpp).
bool should_wait_for_cuda();

// `cupti` null: opened when CUDA starts.
std::unique_ptr<Tracer> make_cupti_tracer(std::shared_ptr<CuptiLibrary> cupti,
                                          const TraceOptions& options, SessionDevices devices);

}  // namespace gpufl::backend
