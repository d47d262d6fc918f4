// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include <utility>

#include "bindings.hpp"
#include "torch_observer.hpp"

namespace nb = nanobind;

// What gpufl.torch is made of.
namespace gpufl::python {

namespace {

nb::object call(const nb::callable& run, const nb::args& args, const nb::kwargs& keywords) {
  PyObject* result = PyObject_Call(run.ptr(), args.ptr(), keywords.ptr());
  if (result == nullptr) nb::raise_python_error();
  return nb::steal(result);
}

// At the end of a list while it is there.
class LastOf {
 public:
  LastOf(nb::list list, const nb::str& item) : list_(std::move(list)) { list_.append(item); }
  ~LastOf() {
    const Py_ssize_t size = PyList_GET_SIZE(list_.ptr());
    PyList_SetSlice(list_.ptr(), size - 1, size, nullptr);
  }
  LastOf(const LastOf&) = delete;
  LastOf& operator=(const LastOf&) = delete;

 private:
  nb::list list_;
};

}  // namespace

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
        const torch_observer::Range range(torch_observer::Range::Kind::Section, name);
        return call(run, args, keywords);
      },
      "run(*args, **keywords), in a range in torch.op.");
  module.def(
      "torch_run_module",
      [](const nb::callable& run, const nb::str& path, nb::list callers, const nb::args& args,
         const nb::kwargs& keywords) {
        const torch_observer::Range range(torch_observer::Range::Kind::Module, path.c_str());
        const LastOf last(std::move(callers), path);
        return call(run, args, keywords);
      },
      "run(*args, **keywords), in a range of a module, with its path at the end of callers.");
}

}  // namespace gpufl::python
