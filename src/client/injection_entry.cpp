// SPDX-License-Identifier: Apache-2.0
#include "client/injection.hpp"

// In libgpufl the program decides whether there is a session: what a vendor's library calls only
// lets it know that the vendor's driver or annotations begin.
void gpufl::backend::on_driver_start() noexcept { gpufl::client::pass_driver_start(); }

int gpufl::backend::on_annotations_start(AnnotationTables tables) noexcept {
  return gpufl::client::pass_annotations_start(tables);
}
