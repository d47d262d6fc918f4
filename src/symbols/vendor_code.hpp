// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// Which code in a stack is a GPU vendor's, by the names of its libraries, folders and functions.
// vendor_code.cpp has a row for each vendor. Pure; any thread.
namespace gpufl::symbols {

// A file of the vendor's driver, runtime or tracing library: what happens inside of it says nothing
// to someone who reads a program.
bool is_driver_library(std::string_view module);
// Any library of a vendor's, the driver's included, wherever it lies.
bool is_vendor_library(std::string_view module);
// A path where vendors install what is theirs.
bool is_in_vendor_folder(std::string_view path);
// A header of a vendor's toolkit, whose inlined functions are in everybody's binaries.
bool is_vendor_header(std::string_view file);
// A function of a vendor's API, or of its runtime, which is often linked statically.
bool is_vendor_function(std::string_view name);
// What a vendor's compiler writes between a launch in the source and the runtime, with lines of its
// own headers.
bool is_launch_glue(std::string_view function);

}  // namespace gpufl::symbols
