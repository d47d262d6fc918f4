// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/backend.hpp"

// What vendors call in a library that they load into a program, passed on to their backend. Called
// on the program's threads, inside the vendor's initialisation; nothing here throws.
namespace gpufl::capture {

// CUDA is being initialised: a session that waits for it begins to record.
void cuda_starts() noexcept;

// backend::nvtx_starts.
using backend::NvtxGetExportTable;
int nvtx_starts(NvtxGetExportTable get_export_table) noexcept;

}  // namespace gpufl::capture
