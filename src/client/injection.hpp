// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gpufl/export.hpp>  // IWYU pragma: export

#include "capture/vendor_entry.hpp"

// What a CUDA driver calls in a library that CUDA_INJECTION64_PATH names, on the thread that
// initialises CUDA, inside that call; and NVTX in the one that NVTX_INJECTION64_PATH names, inside
// the program's first call of NVTX. None of it throws.
namespace gpufl::client {

// Starts this process's session, from the environment alone, or joins the one that runs; then
// tell_cuda_starts(). Called in libgpufl_inject.
void start_injected_session() noexcept;

// Tells the session of this process, whichever copy of the library has it, that CUDA is being
// initialised.
void tell_cuda_starts() noexcept;

// Points a copy of NVTX to that session. 0: it cannot be.
int tell_nvtx_starts(capture::NvtxGetExportTable get_export_table) noexcept;

// Marks and ranges before CUDA count too: the first call of NVTX starts the session as well. Called
// in libgpufl_inject.
int start_injected_markers(capture::NvtxGetExportTable get_export_table) noexcept;

}  // namespace gpufl::client
