// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/nvidia/code/code_finder.hpp"
#include "backend/nvidia/cuda/cuda_driver.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"

namespace gpufl::backend {

// Where the code of this process's kernels may be found, and how CUPTI names an image in samples
// (some 30 of its bytes are looked at, so it takes no time). Reads the environment: on a thread of
// the program's. `api` outlives the result.
CodeSources code_sources(const CuptiApi& api, const CudaDriver& driver);

}  // namespace gpufl::backend
