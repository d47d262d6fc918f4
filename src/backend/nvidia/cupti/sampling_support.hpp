// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/nvidia/cuda/cuda_driver.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"

// Why PC sampling cannot be had on a GPU: asked of CUPTI, of CUDA's driver and of NVML before
// anything is attached.
namespace gpufl::backend {

// `ordinal` is CUDA's, which is initialised. Available where nobody says otherwise: a CUPTI without
// the question answers it when sampling is enabled. May hang while a launch is under way, as every
// call of PC sampling may.
Availability sampling_support(const CuptiApi& api, const CudaDriver& driver,
                              const SessionDevices& devices, uint32_t ordinal);

// Ends what PC sampling has begun in CUPTI beside the contexts, which outlasts even cuptiFinalize:
// until then launches of several threads wait for each other. May hang likewise.
void end_sampling(const CuptiApi& api);

// Whether the context's GPU has enough memory left for it.
Availability sampling_memory(const CudaContexts& contexts, CUcontext context);

}  // namespace gpufl::backend
