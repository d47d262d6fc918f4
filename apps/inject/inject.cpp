// SPDX-License-Identifier: Apache-2.0
#include "client/injection.hpp"

// NOLINTBEGIN(readability-identifier-naming): the names are NVIDIA's.

// Called by CUDA's driver when the program initialises CUDA.
extern "C" GPUFL_API int InitializeInjection() {
  gpufl::client::start_injected_session();
  return 1;
}

// Called by every copy of NVTX in the program, at its first call.
extern "C" GPUFL_API int InitializeInjectionNvtx2(
    gpufl::capture::NvtxGetExportTable get_export_table) {
  return gpufl::client::start_injected_markers(get_export_table);
}

// NOLINTEND(readability-identifier-naming)
