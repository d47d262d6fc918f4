// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/backend.hpp"
#include "backend/vendor_entry.hpp"

// Our side of NVTX's injection. Each copy of NVTX in a process (its headers are compiled into every
// library that annotates) loads the library that NVTX_INJECTION64_PATH names at its first call and
// calls its exported InitializeInjectionNvtx2, which leads here. Any thread, at any time, with or
// without a session.
namespace gpufl::backend {

// Points one copy of NVTX to us; 0 when it is not one that we understand. Repeating it is no error.
int start_nvtx_injection(AnnotationTables get_export_table);

// Sees to it that copies of NVTX which have yet to make their first call find us: where nothing is
// named, names the shared object that this code is in. Not available: another tool is named, or
// there is no shared object, and no copy has come to us so far.
Availability offer_nvtx_injection();

}  // namespace gpufl::backend
