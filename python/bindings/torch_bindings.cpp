// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "torch_observer.hpp"

namespace nb = nanobind;

// What gpufl.torch is made of.
namespace gpufl::python {

void bind_torch(nb::module_& module) {
  module.def(
      "torch_prepare",
      [](nb::callable run) {
        return torch_observer::prepare(
            [](void* callable) { (*static_cast<nb::callable*>(callable))(); }, &run);
      },
      nb::arg("run"),
      "Finds PyTorch, and out how it tells of operators, from a few that run() runs. Empty, or why "
      "that cannot be.");
  module.def("torch_attach", &torch_observer::attach, "Operators become ranges from here on.");
  module.def("torch_detach", &torch_observer::detach);
  module.def("torch_begin_pass", &torch_observer::begin_pass,
             "A backward pass begins. True: torch_end_pass() is to be called.");
  module.def("torch_end_pass", &torch_observer::end_pass);
  module.def("torch_push_module", &torch_observer::push_module, nb::arg("path"));
  module.def("torch_pop_module", &torch_observer::pop_module);
  module.def("torch_push_section", &torch_observer::push_section, nb::arg("name"));
  module.def("torch_pop_section", &torch_observer::pop_section);
}

}  // namespace gpufl::python
