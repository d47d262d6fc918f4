// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's libraries call in a library that they load; see backend/vendor_entry.hpp.
#include "backend/vendor_entry.hpp"

// NOLINTBEGIN(readability-identifier-naming): the names are NVIDIA's.

// CUDA's driver, in the library that CUDA_INJECTION64_PATH names, when the program initialises
// CUDA.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  gpufl::backend::on_driver_start();
  return 1;
}

// Every copy of NVTX in the program, in the library that NVTX_INJECTION64_PATH names, at its first
// call.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    gpufl::backend::AnnotationTables get_export_table) {
  return gpufl::backend::on_annotations_start(get_export_table);
}

// NOLINTEND(readability-identifier-naming)
