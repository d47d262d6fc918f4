// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/vendor_entry.hpp"  // IWYU pragma: export

// What a vendor's driver or annotation API starts when it loads a library of ours into a program:
// called by what backend/vendor_entry.hpp has each shared library define. None of it throws.
namespace gpufl::client {

// The driver has loaded libgpufl_inject: starts this process's session, from the environment alone,
// or joins the one that runs; then pass_driver_start().
void start_injected_session() noexcept;

// Lets the session of this process, whichever copy of the library has it, know that a driver is
// being initialised.
void pass_driver_start() noexcept;

// Points a copy of the annotation API to that session. 0: it cannot be.
int pass_annotations_start(backend::AnnotationTables tables) noexcept;

// Marks and ranges before the driver's start count too: the first of them starts the session as
// well. Called in libgpufl_inject.
int start_injected_markers(backend::AnnotationTables tables) noexcept;

}  // namespace gpufl::client
