// SPDX-License-Identifier: Apache-2.0
#include "bindings/torch_modules.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <unordered_map>
#include <utility>

#include "backend/markers/framework_ranges.hpp"
#include "bindings/torch_observer.hpp"

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

  explicit Path(nb::str named) : path(std::move(named)), text(path.c_str()), kept_text(0) {
    if (text == nullptr) nb::raise_python_error();  // no text that UTF-8 can hold
    kept_text = keep_path(text);
  }
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
      // What replaces it is in the stable ABI since 3.13 only.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
      return PyWeakref_GetObject(reference.ptr()) == module;
#pragma GCC diagnostic pop
    }
  };
  static constexpr size_t kMinLook = 256;

  std::unordered_map<PyObject*, Known> known_;
  size_t next_look_ = kMinLook;
};

// The modules that the thread is in: the outermost one, and the path of the innermost. Its own
// references, null outside of all.
struct ThreadModules {
  PyObject* outermost = nullptr;
  PyObject* innermost_path = nullptr;
  uint32_t depth = 0;

  // What leave() has to be given.
  PyObject* enter(PyObject* module, const Path& path) {
    if (depth++ == 0) outermost = Py_NewRef(module);
    return std::exchange(innermost_path, Py_NewRef(path.path.ptr()));
  }
  void leave(PyObject* around) {
    PyObject* const left = std::exchange(innermost_path, around);
    // Where stacks are switched inside of modules (greenlets), they end in another order.
    const bool is_outside = --depth == 0;
    PyObject* const path = is_outside ? std::exchange(innermost_path, nullptr) : nullptr;
    PyObject* const module = is_outside ? std::exchange(outermost, nullptr) : nullptr;
    // Last: what dies runs code.
    Py_XDECREF(left);
    Py_XDECREF(path);
    Py_XDECREF(module);
  }
};
__attribute__((tls_model("initial-exec"))) constinit thread_local ThreadModules t_modules;

class ModuleCalls {
 public:
  ModuleCalls(nb::callable call, nb::callable paths_below)
      : call_(std::move(call)), paths_below_(std::move(paths_below)) {}

  void remove() { is_removed_ = true; }

  // Null: an exception is set. In the call nothing is alive that has a destructor: CPython ends
  // daemon threads in the middle of it by pthread_exit(), which unwinds, without the GIL.
  PyObject* run(PyObject* args, PyObject* keywords) {
    if (is_removed_ || PyTuple_Size(args) == 0) return PyObject_Call(call_.ptr(), args, keywords);
    PyObject* const module = PyTuple_GetItem(args, 0);
    const Path* path = known_.find(module);
    if (path == nullptr && (path = learn(module)) == nullptr) {
      // Has no name; or a signal's handler has raised.
      return PyErr_Occurred() != nullptr ? nullptr : PyObject_Call(call_.ptr(), args, keywords);
    }
    const bool is_recorded = torch_observer::begin_module(path->text, path->kept_text);
    PyObject* const around = t_modules.enter(module, *path);
    PyObject* const result = PyObject_Call(call_.ptr(), args, keywords);
    t_modules.leave(around);
    torch_observer::end_module(is_recorded);
    return result;
  }

 private:
  // Null: there is no path, or an exception is set that is none of ours. Python code runs here,
  // which may call modules.
  [[gnu::noinline]] const Path* learn(PyObject* module) noexcept {
    const Path* path = attempt([&] { return look_for(module); });
    // What cannot be asked for those inside of it has its class still.
    if (path == nullptr && PyErr_Occurred() == nullptr) {
      path = attempt([&] {
        known_.add(module, Path(own_path(module)));
        return known_.find(module);
      });
    }
    return path;
  }
  template <typename Find>
  static const Path* attempt(Find find) noexcept {
    try {
      return find();
    } catch (nb::python_error& error) {
      // Whatever a program's own named_modules() does; but an interrupt is the program's.
      if (!error.matches(PyExc_Exception)) error.restore();
    } catch (const std::exception&) {
    }
    return nullptr;
  }
  const Path* look_for(PyObject* module) {
    known_.forget_dead();
    if (t_modules.depth == 0) {
      add_below(module, own_path(module), true);
      return known_.find(module);
    }
    // It may have come to lie below the outermost one since that was looked at, if it was.
    if (looks_left_ != 0) {
      --looks_left_;
      const Path* root = known_.find(t_modules.outermost);
      add_below(t_modules.outermost, root ? root->path : class_of(t_modules.outermost), false);
    }
    // Otherwise it was made on the way, or is held where PyTorch does not look.
    if (known_.find(module) == nullptr) add_below(module, own_path(module), false);
    return known_.find(module);
  }
  static nb::str class_of(PyObject* module) {
    return nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(module))).attr("__name__"));
  }
  // Its class, behind whoever calls it.
  static nb::str own_path(PyObject* module) {
    if (t_modules.innermost_path == nullptr) return class_of(module);
    return nb::str(nb::handle(t_modules.innermost_path) + nb::str(".") + class_of(module));
  }
  // The outermost one renames those that were met without it.
  void add_below(PyObject* root, const nb::str& path, bool renames) {
    const nb::object held = nb::borrow(root);
    const nb::list found(paths_below_(held, path));
    for (const nb::handle pair : found) {
      const nb::object below = pair[0];
      if (!renames && known_.find(below.ptr()) != nullptr) continue;
      known_.add(below, Path(nb::str(pair[1])));
    }
  }

  const nb::callable call_, paths_below_;
  KnownModules known_;
  uint32_t looks_left_ = 256;  // at the outermost one: a program may make modules in every step
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
