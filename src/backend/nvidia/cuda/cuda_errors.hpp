// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// Names of CUDA's error codes, without asking CUDA: the runtime may be linked into the program
// where nobody else can call it. Any thread.
namespace gpufl::backend {

// "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE"; "cudaError<code>" for one that is not known.
std::string cuda_error_name(bool is_driver, uint32_t code);

}  // namespace gpufl::backend
