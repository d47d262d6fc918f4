// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// What vendors' libraries call in a library of ours that they have loaded into a program, under
// names of their own: a vendor's folder has an entry_points.cpp for those, which the shared library
// compiles into itself and which leads to the two functions that it defines. From there a call may
// go to another copy of ours, and in the end to the vendor's backend. On the program's threads,
// inside the vendor's initialisation.
namespace gpufl::backend {

// What a copy of a vendor's annotation API passes to us: gives its tables of functions, by number.
using AnnotationTables = const void* (*)(uint32_t table);

// Defined by the shared library that carries the entry points.
void on_driver_start() noexcept;
int on_annotations_start(AnnotationTables tables) noexcept;  // what the vendor's API gets back

// A vendor's driver is being initialised and has loaded this library: tracers that wait for that
// begin.
void driver_starts();
// A copy of a vendor's annotation API has found us: from now on its marks and ranges go to the
// recorder of markers. 0: it is none that this build understands.
int annotations_start(AnnotationTables tables);

}  // namespace gpufl::backend
