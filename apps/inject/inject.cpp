// SPDX-License-Identifier: Apache-2.0
#include "client/injection.hpp"

void gpufl::backend::on_driver_start() noexcept { gpufl::client::start_injected_session(); }

int gpufl::backend::on_annotations_start(AnnotationTables tables) noexcept {
  return gpufl::client::start_injected_markers(tables);
}
