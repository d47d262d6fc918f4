// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "base/status.hpp"
#include "import/torch_trace.hpp"
#include "import/trace.hpp"

// Reads what `nsys export --type sqlite` wrote: one trace for each process that used CUDA. Tables
// and columns differ between versions of Nsight Systems, so what is there is looked up. One thread.
namespace gpufl::importing {

// Unsupported: no export of Nsight Systems, or one that never saw CUDA; Corrupt: SQLite says so.
base::Result<std::vector<Trace>> read_nsight_export(const std::filesystem::path& file,
                                                    const ByteProgress& progress);

}  // namespace gpufl::importing
