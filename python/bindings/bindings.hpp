// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

// The parts of gpufl._core, each in its own file. Called once, when the module is imported, with
// the GIL held. The Python side of the package gives names and documentation to what users see.
namespace gpufl::python {

void bind_options(nanobind::module_& module);   // InitOptions and its enumerations
void bind_analysis(nanobind::module_& module);  // sessions that were recorded
void bind_scope(nanobind::module_& module);     // Scope
void bind_capture(nanobind::module_& module);   // init, shutdown, counters, clean-up
void bind_torch(nanobind::module_& module);     // labels of PyTorch; not without NVTX's headers

}  // namespace gpufl::python
