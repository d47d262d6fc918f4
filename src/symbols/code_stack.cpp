// SPDX-License-Identifier: Apache-2.0
#include "symbols/code_stack.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "symbols/vendor_code.hpp"

namespace gpufl::symbols {
namespace {

std::string_view base_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

bool is_in_installed_package(std::string_view path) {
  return contains_any(path, {"/site-packages/", "/dist-packages/"});
}

// ".../lib/python3.12/json/decoder.py", and not a package that was installed below it.
bool is_in_python_library(std::string_view path) {
  const size_t at = path.find("/lib/python");
  if (at == std::string_view::npos) return false;
  const size_t version = at + std::string_view("/lib/python").size();
  return version < path.size() && path[version] >= '2' && path[version] <= '9';
}

// Wherever it lies: wheels, conda and containers put these everywhere.
bool is_runtime_library(std::string_view module) {
  if (is_vendor_library(module)) return true;
  return starts_with_any(
      base_name(module),
      {"libtorch",   "libc10",   "libshm.so", "libcaffe2", "libstdc++",     "libc++",
       "libc.so",    "libc-2",   "libm.so",   "libm-2",    "libpthread",    "libdl",
       "librt",      "ld-linux", "ld-2",      "libgcc_s",  "libgomp",       "libomp",
       "libiomp",    "libtbb",   "libmkl",    "libpython", "libgpufl",      "libffi",
       "linux-vdso", "[vdso]",   "libtriton", "libxla",    "libtensorflow", "__triton_launcher"});
}

// "python3.12": the interpreter may have everything linked into it.
bool is_interpreter(std::string_view module) {
  const std::string_view name = base_name(module);
  return name == "python" || starts_with_any(name, {"python2", "python3"});
}

bool is_system_path(std::string_view path) {
  return starts_with_any(path, {"/usr/lib", "/lib/", "/lib64/", "/usr/include/"}) ||
         is_in_vendor_folder(path);
}

// Headers of compilers and toolkits, whose inlined functions are in everybody's binaries.
bool is_library_source(std::string_view file) {
  return is_system_path(file) || is_in_installed_package(file) || is_vendor_header(file) ||
         contains_any(file, {"/include/c++/"});
}

// "scale" of "void (anonymous namespace)::scale<float>(float*)".
std::string_view bare_name(std::string_view function) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  if (const size_t at = function.rfind(kAnonymous); at != std::string_view::npos) {
    function.remove_prefix(at + kAnonymous.size());
  }
  function = function.substr(0, function.find_first_of("(<"));
  const size_t before = function.find_last_of(": ");
  return before == std::string_view::npos ? function : function.substr(before + 1);
}

// The function that a compiler makes of a kernel for the host: `kernel<<<...>>>()` calls it, and it
// calls the stub, whose name holds the kernel's as linkers see it ("5scale"). Its line is the
// kernel's own, where nobody launches anything.
bool is_kernel_on_host(std::string_view function, std::string_view stub) {
  const std::string_view name = bare_name(function);
  return stub.starts_with("__device_stub") && !name.empty() &&
         stub.find(std::to_string(name.size()) + std::string(name)) != std::string_view::npos;
}

bool is_start_up(std::string_view function) {
  static constexpr std::array<std::string_view, 6> kNames = {
      "_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "clone", "clone3"};
  return std::find(kNames.begin(), kNames.end(), function) != kNames.end();
}

std::string hex(uint64_t value) {
  char text[19];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// "train.py:90", as far as it is known.
std::string place_text(std::string_view file, int64_t line) {
  std::string text(file);
  if (line > 0) text += ":" + std::to_string(line);
  return text;
}

// "step()": Python's names have no parentheses, and neither have C's.
std::string function_text(const CodeFrame& frame) {
  const bool is_plain = frame.function.find('(') == std::string::npos && !frame.function.empty() &&
                        frame.function.back() != '>';
  return is_plain ? frame.function + "()" : frame.function;
}

}  // namespace

bool is_inductor_file(std::string_view path) {
  constexpr size_t kHashLetters = 52;
  const std::string_view name = base_name(path);
  if (name.size() != kHashLetters + 3 || name[0] != 'c' || !name.ends_with(".py")) return false;
  return std::all_of(name.begin(), name.begin() + kHashLetters,
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7'); });
}

Origin origin_of_python(std::string_view file) {
  if (file.starts_with("<frozen ") || is_in_installed_package(file) || is_in_python_library(file) ||
      file.starts_with("<eval_with_key>") || is_inductor_file(file)) {
    return Origin::Library;
  }
  return file.empty() ? Origin::Internal : Origin::User;
}

Origin origin_of_source(std::string_view file) {
  return is_library_source(file) || is_in_python_library(file) ? Origin::Library : Origin::User;
}

Origin origin_of_native(std::string_view module, const CodeLocation& place) {
  if (module.empty() || is_start_up(place.function)) return Origin::Internal;
  if (is_runtime_library(module) || is_interpreter(module) || is_system_path(module) ||
      is_in_installed_package(module) || is_in_python_library(module)) {
    return Origin::Library;
  }
  if (is_launch_glue(place.function)) return Origin::Library;
  if (place.file.empty()) {
    return is_vendor_function(place.function) ? Origin::Library : Origin::User;
  }
  return is_library_source(place.file) ? Origin::Library : Origin::User;
}

bool is_of_program(const BinaryNote& binary) {
  return origin_of_native(binary.path, {}) == Origin::User;
}

std::vector<CodeFrame> resolve_stack(const std::vector<int64_t>& frame_ids,
                                     const SessionFrames& frames, const SymbolFile& symbols) {
  std::vector<CodeFrame> stack;
  for (const int64_t id : frame_ids) {
    const auto found = frames.frames().find(id);
    if (found == frames.frames().end()) {
      stack.emplace_back();
      continue;
    }
    const RecordedFrame& recorded = found->second;
    CodeFrame frame;
    frame.function = frames.name(recorded.function);
    frame.file = frames.text(recorded.file);
    frame.line = recorded.line;
    if (!recorded.is_native()) {
      frame.origin = origin_of_python(frame.file);
      stack.push_back(std::move(frame));
      continue;
    }
    frame.module = frames.text(recorded.module);
    frame.offset = recorded.offset;
    const auto known = symbols.frames.find(id);
    if (known == symbols.frames.end() || known->second.empty()) {
      frame.origin = origin_of_native(frame.module, frame);
      stack.push_back(std::move(frame));
      continue;
    }
    for (const CodeLocation& place : known->second) {
      static_cast<CodeLocation&>(frame) = place;
      frame.origin = origin_of_native(frame.module, place);
      if (!stack.empty() && is_kernel_on_host(frame.function, stack.back().function)) {
        frame.origin = Origin::Library;
      }
      stack.push_back(frame);
    }
  }
  return stack;
}

const CodeFrame* user_frame(const std::vector<CodeFrame>& stack) {
  const auto is_own = [](const CodeFrame& frame) { return frame.origin == Origin::User; };
  const auto found = std::find_if(stack.begin(), stack.end(), is_own);
  if (found == stack.end()) return nullptr;
  if (found->line > 0) return &*found;
  // An address says less than the line of Python that led to it.
  const auto line = std::find_if(found, stack.end(), [&](const CodeFrame& frame) {
    return is_own(frame) && frame.is_python() && frame.line > 0;
  });
  return line != stack.end() ? &*line : &*found;
}

// The vendor's functions call each other; the outermost of those at the stack's end is the one.
std::string api_function(const std::vector<CodeFrame>& stack) {
  std::string function;
  for (const CodeFrame& frame : stack) {
    if (frame.origin == Origin::User || frame.is_python()) break;
    const bool is_call = is_vendor_function(frame.function) && frame.function[0] != '_';
    if (is_call) function = frame.function.substr(0, frame.function.find_first_of("(<"));
  }
  return function;
}

std::string frame_text(const CodeFrame& frame) {
  if (frame.function.empty() && frame.file.empty()) {
    return frame.module.empty() ? "?" : frame.module + "+" + hex(frame.offset);
  }
  std::string text = frame.function.empty() ? "?" : frame.function;
  if (!frame.file.empty()) return text + " at " + place_text(frame.file, frame.line);
  return frame.module.empty() ? text : text + " in " + frame.module;
}

std::string site_text(const CodeFrame& frame) {
  const std::string_view module = base_name(frame.module);
  if (frame.file.empty()) {
    return frame.function.empty() ? std::string(module) + "+" + hex(frame.offset)
                                  : function_text(frame) + " of " + std::string(module);
  }
  std::string text = place_text(base_name(frame.file), frame.line);
  if (!frame.function.empty()) text += " in " + function_text(frame);
  return text;
}

}  // namespace gpufl::symbols
