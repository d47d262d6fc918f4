// SPDX-License-Identifier: Apache-2.0
#include "torch_modules.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <unordered_map>
#include <utility>

#include "backend/nvidia/framework_ranges.hpp"
#include "torch_observer.hpp"

namespace nb = nanobind;

namespace gpufl::python::torch_modules {
namespace {

// The number of a text that is kept for ever; 0: none. Models that are made anew have the same
// paths, but names may also be made up without end, and then others need the room.
uint32_t keep_path(const char* text) {
  constexpr size_t kMaxPaths = 16'384, kMaxLength = 255;
  static auto* const kept = new std::unordered_map<std::string, uint32_t>;
  std::string key(text);
  if (key.size() > kMaxLength) return 0;
  if (const auto found = kept->find(key); found != kept->end()) return found->second;
  if (kept->size() == kMaxPaths) return 0;
  const uint32_t number = backend::framework_ranges::keep_text(key);
  kept->emplace(std::move(key), number);
  return number;
}

struct Path {
  nb::str path;
  const char* text;  // of path
  uint32_t kept_text;

  explicit Path(nb::str named)
      : path(std::move(named)), text(path.c_str()), kept_text(keep_path(text)) {}
};

// Modules and their paths. Another module may come to lie where one has died: a weak reference
// tells. Those to dead modules go when there are as many as others.
class KnownModules {
 public:
  // Null: not known.
  const Path* find(PyObject* module) const {
    const auto found = known_.find(module);
    return found != known_.end() && found->second.is_of(module) ? &found->second.path : nullptr;
  }
  void add(nb::handle module, Path path) {
    PyObject* const reference = PyWeakref_NewRef(module.ptr(), nullptr);
    if (reference == nullptr) nb::raise_python_error();
    known_.insert_or_assign(module.ptr(), Known{nb::steal(reference), std::move(path)});
  }
  void forget_dead() {
    if (known_.size() < next_look_) return;
    std::erase_if(known_, [](const auto& one) { return !one.second.is_of(one.first); });
    next_look_ = std::max(kMinLook, 2 * known_.size());
  }

 private:
  struct Known {
    nb::object reference;
    Path path;

    bool is_of(PyObject* module) const {
      return reinterpret_cast<PyWeakReference*>(reference.ptr())->wr_object == module;
    }
  };
  static constexpr size_t kMinLook = 256;

  std::unordered_map<PyObject*, Known> known_;
  size_t next_look_ = kMinLook;
};

// The path of the innermost module that the thread is in; its own reference, null outside of all.
struct ThreadModules {
  PyObject* innermost = nullptr;
  uint32_t depth = 0;
};
__attribute__((tls_model("initial-exec"))) constinit thread_local ThreadModules t_modules;

// In a module while it is there.
class InModule {
 public:
  explicit InModule(const Path& path)
      : around_(std::exchange(t_modules.innermost, Py_NewRef(path.path.ptr()))) {
    ++t_modules.depth;
  }
  ~InModule() {
    Py_XDECREF(std::exchange(t_modules.innermost, around_));
    // Where stacks are switched inside of modules (greenlets), they end in another order.
    if (--t_modules.depth == 0) Py_CLEAR(t_modules.innermost);
  }
  InModule(const InModule&) = delete;
  InModule& operator=(const InModule&) = delete;

 private:
  PyObject* const around_;
};

class ModuleCalls {
 public:
  ModuleCalls(nb::callable call, nb::callable paths_below)
      : call_(std::move(call)), paths_below_(std::move(paths_below)) {}

  void remove() { is_removed_ = true; }

  // Null: an exception is set.
  PyObject* run(PyObject* args, PyObject* keywords) noexcept {
    if (is_removed_ || PyTuple_GET_SIZE(args) == 0)
      return PyObject_Call(call_.ptr(), args, keywords);
    PyObject* const module = PyTuple_GET_ITEM(args, 0);
    const Path* path = known_.find(module);
    if (path == nullptr && (path = learn(module)) == nullptr) return nullptr;
    const torch_observer::Range range(torch_observer::Range::Kind::Module, path->text,
                                      path->kept_text);
    const InModule inside(*path);
    return PyObject_Call(call_.ptr(), args, keywords);
  }

 private:
  // Null: an exception is set. Python code runs here, which may call modules.
  [[gnu::noinline]] const Path* learn(PyObject* module) noexcept {
    try {
      PyObject* const caller = t_modules.innermost;
      const nb::list found(paths_below_(nb::handle(module), nb::handle(caller ? caller : Py_None)));
      for (const nb::handle pair : found) {
        const nb::object below = pair[0];
        if (below.ptr() != module && known_.find(below.ptr()) != nullptr) continue;
        known_.add(below, Path(nb::str(pair[1])));
      }
      known_.forget_dead();
      if (const Path* path = known_.find(module)) return path;
      PyErr_SetString(PyExc_RuntimeError, "paths_below() does not tell the module's own path");
    } catch (nb::python_error& error) {
      error.restore();
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
    return nullptr;
  }

  const nb::callable call_, paths_below_;
  KnownModules known_;
  bool is_removed_ = false;
};

ModuleCalls& calls_of(PyObject* self) {
  return *static_cast<ModuleCalls*>(PyCapsule_GetPointer(self, nullptr));
}

PyObject* run(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !PyTuple_Check(arguments[0]) || !PyDict_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "run(args, keywords): a tuple and a dict");
    return nullptr;
  }
  return calls_of(self).run(arguments[0], arguments[1]);
}

PyObject* remove(PyObject* self, PyObject* /*nothing*/) {
  calls_of(self).remove();
  Py_RETURN_NONE;
}

// CPython calls what has METH_FASTCALL as what it is.
PyMethodDef g_run = {"torch_run_module",
                     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(run)),
                     METH_FASTCALL, nullptr};
PyMethodDef g_remove = {"torch_remove_modules", remove, METH_NOARGS, nullptr};

nb::object function(PyMethodDef& method, const nb::object& self) {
  PyObject* const made = PyCFunction_New(&method, self.ptr());
  if (made == nullptr) nb::raise_python_error();
  return nb::steal(made);
}

}  // namespace

nb::tuple make_calls(nb::callable call, nb::callable paths_below) {
  const nb::capsule self(new ModuleCalls(std::move(call), std::move(paths_below)),
                         [](void* calls) noexcept { delete static_cast<ModuleCalls*>(calls); });
  return nb::make_tuple(function(g_run, self), function(g_remove, self));
}

}  // namespace gpufl::python::torch_modules
