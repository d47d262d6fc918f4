// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "backend/nvidia/cuda/cuda_search.hpp"
#include "base/dynamic_library.hpp"

// Which libcupti this process uses. Knows no header of NVIDIA's: `gpufl doctor` looks without them.
namespace gpufl::backend {

// The copy that the process holds already (two copies do not mix: PyTorch brings its own), else
// the file that GPUFL_CUPTI_LIBRARY names, else what `search` finds, else the loader's own search.
base::Result<base::DynamicLibrary> open_cupti(const CudaSearch& search);

// Whether functions of `cupti` may be called. Not where CUDA's driver cannot be loaded: the real
// library then fails, and some versions of it call themselves until the stack ends. A file that
// GPUFL_CUPTI_LIBRARY names is taken at its word.
base::Status can_call_cupti(const base::DynamicLibrary& cupti);

// Whether the process holds a copy.
bool holds_cupti();

// "13.0". CUPTI counted its versions up to CUDA 12 ("API version 26" is 12.8) and since writes
// 130001 for 13.0.
std::string cupti_version_text(uint32_t version);

}  // namespace gpufl::backend
