// SPDX-License-Identifier: Apache-2.0
#include "capture/vendor_entry.hpp"

#include "capture/service_thread.hpp"

namespace gpufl::capture {

void cuda_starts() noexcept {
  // Threads that the vendor's libraries start here inherit that.
  const SignalsBlocked blocked;
  try {
    backend::cuda_starts();
  } catch (...) {
    // Out of memory: the program goes on, unrecorded.
  }
}

int nvtx_starts(NvtxGetExportTable get_export_table) noexcept {
  try {
    return backend::nvtx_starts(get_export_table);
  } catch (...) {
    return 0;
  }
}

}  // namespace gpufl::capture
