// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/vendor_entry.hpp"

// backend/vendor_entry.hpp for whoever passes it on, without exceptions.
namespace gpufl::capture {

void driver_starts() noexcept;
using backend::AnnotationTables;
int annotations_start(AnnotationTables tables) noexcept;

}  // namespace gpufl::capture
