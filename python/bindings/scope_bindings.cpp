// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <pthread.h>

#include <cstdint>
#include <gpufl/scope.hpp>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/bindings.hpp"

namespace nb = nanobind;

namespace gpufl::python {
namespace {

// A name as the recorder takes it, and what keeps it alive.
class Text {
 public:
  explicit Text(nb::str text) : text_(std::move(text)) {
    Py_ssize_t size = 0;
    // Python keeps the bytes with the string: nothing is copied from then on.
    const char* bytes = PyUnicode_AsUTF8AndSize(text_.ptr(), &size);
    if (bytes == nullptr) {
      // A lone surrogate, as in names of files: a label may be inexact, but never ends the program.
      PyErr_Clear();
      text_ = nb::str(text_.attr("encode")("utf-8", "replace").attr("decode")("utf-8"));
      bytes = PyUnicode_AsUTF8AndSize(text_.ptr(), &size);
    }
    view_ = {bytes, static_cast<size_t>(size)};
  }
  std::string_view view() const { return view_; }
  const nb::str& object() const { return text_; }

 private:
  nb::str text_;
  std::string_view view_;
};

uint64_t begin(std::string_view name, std::string_view tag, ScopeMeta meta) {
  if (detail::active_session.load(std::memory_order_relaxed) == 0) return 0;
  return detail::begin_scope(name, tag, meta);
}

void end(uint64_t scope) {
  if (scope != 0) detail::end_scope(scope);
}

uint32_t count_of(int64_t value, const char* name) {
  if (value < 0 || value > std::numeric_limits<uint32_t>::max()) {
    throw nb::value_error((std::string(name) + " must be 0 or more").c_str());
  }
  return static_cast<uint32_t>(value);
}

class Scope {
 public:
  Scope(nb::str name, nb::str tag, std::optional<int64_t> repeat, int64_t warmup, bool deep)
      : name_(std::move(name)), tag_(std::move(tag)), is_benchmark_(repeat.has_value()) {
    if (!is_benchmark_ && warmup != 0) throw nb::value_error("warmup needs repeat");
    meta_ = {count_of(repeat.value_or(0), "repeat"), count_of(warmup, "warmup"), deep};
  }

  // One object may be entered again inside itself, and on several threads: each exit ends the
  // latest scope that its thread has begun.
  void enter() {
    const Open opened{begin(name_.view(), tag_.view(), meta_), pthread_self()};
    if (is_open_) outer_.push_back(latest_);
    latest_ = opened;
    is_open_ = true;
  }

  void exit() {
    if (!is_open_) throw std::runtime_error("gpufl.Scope: exit without enter");
    if (outer_.empty()) {
      is_open_ = false;
      return end(latest_.scope);
    }
    outer_.push_back(latest_);
    auto own = outer_.rbegin();
    while (own != outer_.rend() && pthread_equal(own->thread, pthread_self()) == 0) ++own;
    if (own == outer_.rend()) own = outer_.rbegin();
    end(own->scope);
    outer_.erase(std::next(own).base());
    latest_ = outer_.back();
    outer_.pop_back();
  }

  const Text& name() const { return name_; }
  const Text& tag() const { return tag_; }
  ScopeMeta meta() const { return meta_; }
  bool is_benchmark() const { return is_benchmark_; }

 private:
  struct Open {
    uint64_t scope;
    pthread_t thread;
  };
  Text name_;
  Text tag_;
  ScopeMeta meta_;
  bool is_benchmark_;
  bool is_open_ = false;
  Open latest_{};            // valid while is_open_
  std::vector<Open> outer_;  // those before it, oldest first
};

// A benchmark loop: warm-up rounds in the scope "<name>_warmup", then the measured ones in the
// scope itself, as GFL_BENCH does. A loop that is left early ends its scope with the iterator.
class Rounds {
 public:
  explicit Rounds(const Scope& scope)
      : name_(scope.name()),
        tag_(scope.tag()),
        meta_(scope.meta()),
        next_(-int64_t{meta_.warmup}) {}
  ~Rounds() { finish(); }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  int64_t next() {
    if (next_ == int64_t{meta_.repeat}) {
      finish();
      throw nb::stop_iteration();
    }
    if (next_ == 0) {
      finish();
      open_ = begin(name_.view(), tag_.view(), meta_);
    } else if (next_ == -int64_t{meta_.warmup}) {
      open_ = begin(std::string(name_.view()) + "_warmup", {}, {});
    }
    return next_++;
  }

 private:
  void finish() {
    end(open_);
    open_ = 0;
  }

  Text name_;
  Text tag_;
  ScopeMeta meta_;
  int64_t next_;
  uint64_t open_ = 0;
};

}  // namespace

void bind_scope(nb::module_& module) {
  nb::class_<Rounds>(module, "ScopeRounds", "The rounds of a benchmark scope.")
      .def("__iter__", [](nb::handle_t<Rounds> self) { return self; })
      .def("__next__", &Rounds::next);

  nb::class_<Scope>(module, "Scope",
                    "A named phase of the program: a context manager, a decorator, and with repeat "
                    "the loop of a benchmark.")
      .def(nb::init<nb::str, nb::str, std::optional<int64_t>, int64_t, bool>(), nb::arg("name"),
           nb::arg("tag") = "", nb::kw_only(), nb::arg("repeat") = nb::none(),
           nb::arg("warmup") = 0, nb::arg("deep") = false)
      .def("__enter__",
           [](nb::handle_t<Scope> self) {
             nb::inst_ptr<Scope>(self)->enter();
             return self;
           })
      .def(
          "__exit__", [](Scope& self, nb::handle, nb::handle, nb::handle) { self.exit(); },
          nb::arg().none(), nb::arg().none(), nb::arg().none())
      .def("__iter__",
           [](const Scope& self) {
             if (!self.is_benchmark()) throw nb::type_error("to iterate a Scope, give it repeat=N");
             return new Rounds(self);
           })
      .def("__call__",
           [](nb::handle_t<Scope> self, nb::handle function) {
             return nb::module_::import_("gpufl._decorator").attr("decorate")(self, function);
           })
      .def_prop_ro("name", [](const Scope& self) { return self.name().object(); })
      .def_prop_ro("tag", [](const Scope& self) { return self.tag().object(); });
}

}  // namespace gpufl::python
