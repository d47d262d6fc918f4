// SPDX-License-Identifier: Apache-2.0
#include "capture/vendor_entry.hpp"

#include "capture/service_thread.hpp"

namespace gpufl::capture {

void driver_starts() noexcept {
  // Threads that the vendor's libraries start here inherit that.
  const SignalsBlocked blocked;
  try {
    backend::driver_starts();
  } catch (...) {
    // Out of memory: the program goes on, unrecorded.
  }
}

int annotations_start(AnnotationTables tables) noexcept {
  try {
    return backend::annotations_start(tables);
  } catch (...) {
    return 0;
  }
}

}  // namespace gpufl::capture
