// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include <new>
#include <string>
#include <variant>

#include "bindings/bindings.hpp"
#include "bindings/option_values.hpp"
#include "client/option_table.hpp"

namespace nb = nanobind;

namespace gpufl::python {
namespace {

using client::ConditionField;
using client::IntField;
using client::OptionField;
using client::PercentField;

[[noreturn]] void refuse(const OptionField& field, const std::string& wanted, nb::handle given) {
  const std::string text = nb::cast<std::string>(nb::repr(given));
  throw nb::type_error((std::string(field.name) + " must be " + wanted + ", not " + text).c_str());
}

// From a Python value.
struct SetFromPython {
  const OptionField& field;
  nb::handle value;
  InitOptions& options;

  void operator()(std::string InitOptions::* member) const {
    // A path is as good as its text.
    PyObject* path = PyOS_FSPath(value.ptr());
    if (path == nullptr) {
      PyErr_Clear();
      refuse(field, "a str or a path", value.type());
    }
    if (!nb::try_cast(nb::steal(path), options.*member))
      refuse(field, "a str or a path", value.type());
  }
  void operator()(bool InitOptions::* member) const {
    if (!nb::try_cast(value, options.*member, false)) refuse(field, "True or False", value);
  }
  void operator()(const IntField& integer) const {
    if (!nb::try_cast(value, options.*integer.member, false)) {
      refuse(field,
             "an int from " + std::to_string(integer.takes_zero ? 0 : integer.min) + " to " +
                 std::to_string(integer.max),
             value);
    }
  }
  void operator()(const PercentField& percent) const {
    if (!nb::try_cast(value, options.*percent.member)) refuse(field, "a float", value);
  }
  void operator()(BackendKind InitOptions::* member) const {
    if (!nb::try_cast(value, options.*member, false)) refuse(field, "a gpufl.BackendKind", value);
  }
  void operator()(ProfilingEngine InitOptions::* member) const {
    if (!nb::try_cast(value, options.*member, false))
      refuse(field, "a gpufl.ProfilingEngine", value);
  }
  void operator()(const ConditionField& condition) const {
    if (!nb::try_cast(value, options.*condition.member)) refuse(field, "a str", value.type());
  }
};

void set_field(InitOptions& options, const OptionField& field, nb::handle value) {
  std::visit(SetFromPython{field, value, options}, field.member);
}

nb::object get_field(const InitOptions& options, const OptionField& field) {
  return std::visit(
      [&](const auto& member) {
        if constexpr (std::is_class_v<std::decay_t<decltype(member)>>) {
          return nb::cast(options.*member.member);
        } else {
          return nb::cast(options.*member);
        }
      },
      field.member);
}

// The type of a field's values, as stubs tell it.
struct PythonType {
  bool is_setter;  // which takes more

  const char* operator()(std::string InitOptions::*) const {
    return is_setter ? "str | os.PathLike[str]" : "str";
  }
  const char* operator()(bool InitOptions::*) const { return "bool"; }
  const char* operator()(const IntField&) const { return "int"; }
  const char* operator()(const PercentField&) const { return "float"; }
  const char* operator()(BackendKind InitOptions::*) const { return "BackendKind"; }
  const char* operator()(ProfilingEngine InitOptions::*) const { return "ProfilingEngine"; }
  const char* operator()(const ConditionField&) const { return "str"; }
};

std::string python_type(const OptionField& field, bool is_setter) {
  return std::visit(PythonType{is_setter}, field.member);
}

std::string constructor_signature() {
  std::string signature = "def __init__(self, *";
  for (const OptionField& field : client::option_fields()) {
    signature += ", " + std::string(field.name) + ": " + python_type(field, true) + " = ...";
  }
  return signature + ") -> None";
}

void bind_enumerations(nb::module_& module) {
  nb::enum_<BackendKind>(module, "BackendKind", "Whose GPUs are recorded.")
      .value("Auto", BackendKind::Auto, "The vendor whose driver is found.")
      .value("Nvidia", BackendKind::Nvidia)
      .value("Amd", BackendKind::Amd)
      .value("None_", BackendKind::None, "No vendor: scopes, counters and host metrics only.");
  nb::enum_<ProfilingEngine> engine(module, "ProfilingEngine",
                                    "How much is recorded: a ladder, each level adds to the last.");
  int number = 0;
  for (const std::string_view name : client::engine_names()) {
    engine.value(std::string(name).c_str(), static_cast<ProfilingEngine>(number++));
  }
}

}  // namespace

AskedOptions asked_options(const InitOptions& options, const nb::dict& given) {
  AskedOptions asked{options, {}};
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    const OptionField* field = client::find_field(name);
    if (field == nullptr) throw nb::type_error(("there is no option '" + name + "'").c_str());
    set_field(asked.values, *field, value);
    asked.named.insert(name);
  }
  return asked;
}

void bind_options(nb::module_& module) {
  bind_enumerations(module);
  nb::class_<InitOptions> options(module, "InitOptions",
                                  "What init() is asked for; each field is a keyword here too.");
  options.def(
      "__init__",
      [](InitOptions* self, const nb::kwargs& fields) {
        new (self) InitOptions(asked_options({}, fields).values);
      },
      nb::sig(constructor_signature().c_str()));
  nb::list names;
  for (const OptionField& field : client::option_fields()) {
    const std::string name(field.name);
    const std::string getter = "def " + name + "(self) -> " + python_type(field, false);
    const std::string setter =
        "def " + name + "(self, value: " + python_type(field, true) + ", /) -> None";
    // The table is constant, so a getter may keep a reference into it.
    options.def_prop_rw(
        name.c_str(), [&field](const InitOptions& self) { return get_field(self, field); },
        [&field](InitOptions& self, nb::handle value) { set_field(self, field, value); },
        nb::for_getter(nb::sig(getter.c_str())), nb::for_setter(nb::sig(setter.c_str())),
        nb::for_setter(nb::arg("value").none()));
    names.append(name.c_str());
  }
  options.attr("__match_args__") = nb::tuple(names);
}

}  // namespace gpufl::python
