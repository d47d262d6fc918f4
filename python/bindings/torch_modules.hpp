// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

// Calls of modules as ranges: what gpufl.torch puts around torch.nn.Module.__call__, but for the
// lines that a compiler has to read. Functions of CPython's own kind, because nanobind's would make
// arguments anew at every call. With the GIL.
namespace gpufl::python::torch_modules {

// A pair of functions: run(args, keywords), which is call(*args, **keywords) in a range of the
// module that is the first of args; and remove(), from which on run is call alone.
// `paths_below(module, caller)` tells the path of a module that is not known, and those of modules
// inside of it, as pairs; caller is the path of the module that calls it, or None.
nanobind::tuple make_calls(nanobind::callable call, nanobind::callable paths_below);

}  // namespace gpufl::python::torch_modules
