// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

// Calls of modules as ranges: what gpufl.torch puts around torch.nn.Module._call_impl, but for the
// lines that a compiler has to read. Functions of CPython's own kind, because nanobind's would make
// arguments anew at every call. With the GIL.
namespace gpufl::python::torch_modules {

// A pair of functions: run(args, keywords), which is call(*args, **keywords) in a range of the
// module that is the first of args; and remove(), from which on run is call alone.
// `paths_below(module, path)` tells a module and those inside of it, each with its path, where its
// own is `path`. What it raises ends nobody's call.
nanobind::tuple make_calls(nanobind::callable call, nanobind::callable paths_below);

}  // namespace gpufl::python::torch_modules
