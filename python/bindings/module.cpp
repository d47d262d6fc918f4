// SPDX-License-Identifier: Apache-2.0
#include <gpufl/version.hpp>

#include "bindings/bindings.hpp"

NB_MODULE(_core, module) {
  // What lives as long as the program, a scope of a module or of a daemon thread, is no leak.
  nanobind::set_leak_warnings(false);
  module.doc() = "What gpufl is made of. Use the package's own names.";
  module.attr("__version__") = GPUFL_VERSION;
  gpufl::python::bind_options(module);
  gpufl::python::bind_scope(module);
  gpufl::python::bind_capture(module);
  gpufl::python::bind_analysis(module);
  gpufl::python::bind_torch(module);
}
