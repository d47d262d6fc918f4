// SPDX-License-Identifier: Apache-2.0
#include "client/injection.hpp"

// In libgpufl the program decides whether there is a session: NVIDIA's libraries, which load what
// CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH name, only tell it that CUDA and NVTX begin.
// NOLINTBEGIN(readability-identifier-naming): the names are NVIDIA's.

extern "C" GPUFL_API int InitializeInjection() {
  gpufl::client::tell_cuda_starts();
  return 1;
}

extern "C" GPUFL_API int InitializeInjectionNvtx2(
    gpufl::capture::NvtxGetExportTable get_export_table) {
  return gpufl::client::tell_nvtx_starts(get_export_table);
}

// NOLINTEND(readability-identifier-naming)
