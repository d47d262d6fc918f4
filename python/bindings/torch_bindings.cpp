// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include "bindings/bindings.hpp"
#include "bindings/torch_modules.hpp"
#include "bindings/torch_observer.hpp"

namespace nb = nanobind;

// What gpufl.torch is made of.
namespace gpufl::python {

namespace {

nb::object call(const nb::callable& run, const nb::args& args, const nb::kwargs& keywords) {
  PyObject* result = PyObject_Call(run.ptr(), args.ptr(), keywords.ptr());
  if (result == nullptr) nb::raise_python_error();
  return nb::steal(result);
}

}  // namespace

void bind_torch(nb::module_& module) {
  module.def(
      "torch_prepare",
      [](nb::callable run) {
        return torch_observer::prepare(
            [](void* callable) { (*static_cast<nb::callable*>(callable))(); }, &run);
      },
      nb::arg("run"),
      "Finds PyTorch and how it reports operators, from a few that run() runs. Returns an empty "
      "string, or why that is not possible.");
  module.def("torch_attach", &torch_observer::attach, "Operators become ranges from here on.");
  module.def("torch_detach", &torch_observer::detach);
  // What is begun here ends, whatever is raised: in Python a signal may raise before a `try`.
  module.def(
      "torch_run_pass",
      [](const nb::callable& run, bool is_alone, const nb::args& args, const nb::kwargs& keywords) {
        const torch_observer::Pass pass(is_alone);
        return call(run, args, keywords);
      },
      "run(*args, **keywords), which runs a backward pass, and whether no other thread runs.");
  module.def(
      "torch_run_section",
      [](const nb::callable& run, const char* name, const nb::args& args,
         const nb::kwargs& keywords) {
        const torch_observer::Section section(name);
        return call(run, args, keywords);
      },
      "run(*args, **keywords), in a range in torch.op.");
  module.def("torch_module_calls", &torch_modules::make_calls, nb::arg("call"),
             nb::arg("paths_below"),
             "run(args, keywords), which is call(*args, **keywords) in a range of the module that "
             "is the first of args, and remove(), from which on it is call alone.");
}

}  // namespace gpufl::python
