// SPDX-License-Identifier: Apache-2.0
#include "symbols/python_layout.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstring>
#include <string_view>

namespace gpufl::symbols {

namespace {

constexpr PythonLayout kPython310{.entry = PythonLayout::Entry::EveryFrame,
                                  .instruction_is_index = true,
                                  .line_table_is_pairs = true,
                                  .thread_frame = 24,
                                  .thread_cframe = 48,
                                  .cframe_previous = 8,
                                  .frame_code = 32,
                                  .frame_previous = 24,
                                  .frame_instruction = 96,
                                  .code_filename = 104,
                                  .code_name = 112,
                                  .code_first_line = 40,
                                  .code_line_table = 120,
                                  .ascii_data = 48,
                                  .compact_data = 72};

constexpr PythonLayout kPython311{.entry = PythonLayout::Entry::Flag,
                                  .thread_cframe = 56,
                                  .cframe_frame = 8,
                                  .cframe_previous = 16,
                                  .frame_code = 32,
                                  .frame_previous = 48,
                                  .frame_instruction = 56,
                                  .frame_entry = 68,
                                  .code_filename = 112,
                                  .code_name = 128,
                                  .code_first_line = 72,
                                  .code_line_table = 136,
                                  .code_instructions = 184,
                                  .ascii_data = 48,
                                  .compact_data = 72};

constexpr PythonLayout kPython312{.entry = PythonLayout::Entry::Shim,
                                  .thread_cframe = 56,
                                  .cframe_frame = 0,
                                  .cframe_previous = 8,
                                  .frame_code = 0,
                                  .frame_previous = 8,
                                  .frame_instruction = 56,
                                  .frame_entry = 70,
                                  .code_filename = 112,
                                  .code_name = 128,
                                  .code_first_line = 68,
                                  .code_line_table = 136,
                                  .code_instructions = 192,
                                  .code_version = 92,
                                  .ascii_data = 40,
                                  .compact_data = 56};

constexpr PythonLayout kPython313{.entry = PythonLayout::Entry::Shim,
                                  .thread_frame = 72,
                                  .frame_code = 0,
                                  .frame_previous = 8,
                                  .frame_instruction = 56,
                                  .frame_entry = 70,
                                  .code_filename = 112,
                                  .code_name = 128,
                                  .code_first_line = 68,
                                  .code_line_table = 136,
                                  .code_instructions = 200,
                                  .code_version = 92,
                                  .ascii_data = 40,
                                  .compact_data = 56};

// The beginning of 3.13's _PyRuntime: what it tells debuggers of itself, as 64-bit numbers.
struct DebugOffsets {
  char cookie[8];
  uint64_t version;
  uint64_t free_threaded;
  uint64_t runtime_state[3];
  uint64_t interpreter_state[13];
  struct {
    uint64_t size, prev, next, interp, current_frame, thread_id, native_thread_id, datastack_chunk,
        status;
  } thread;
  struct {
    uint64_t size, previous, executable, instr_ptr, localsplus, owner;
  } frame;
  struct {
    uint64_t size, filename, name, qualname, linetable, firstlineno, argcount, localsplusnames,
        localspluskinds, co_code_adaptive;
  } code;
  struct {
    uint64_t size, ob_type;
  } object;
  uint64_t type[4], tuple[3], list[3], dict[3], floating[2], integer[3];
  struct {
    uint64_t size, ob_size, ob_sval;
  } bytes;
  struct {
    uint64_t size, state, length, asciiobject_size;
  } unicode;
};

// What the interpreter says of itself is worth more than what headers said when this was compiled.
void apply(const DebugOffsets& said, PythonLayout& layout) {
  const auto set = [](uint16_t& offset, uint64_t value) { offset = static_cast<uint16_t>(value); };
  set(layout.thread_frame, said.thread.current_frame);
  set(layout.frame_code, said.frame.executable);
  set(layout.frame_previous, said.frame.previous);
  set(layout.frame_instruction, said.frame.instr_ptr);
  set(layout.frame_entry, said.frame.owner);
  set(layout.code_filename, said.code.filename);
  set(layout.code_name, said.code.qualname);
  // It does not tell where this is, which lies behind the first line.
  if (said.code.firstlineno != layout.code_first_line) layout.code_version = 0;
  set(layout.code_first_line, said.code.firstlineno);
  set(layout.code_line_table, said.code.linetable);
  set(layout.code_instructions, said.code.co_code_adaptive);
  set(layout.object_type, said.object.ob_type);
  set(layout.bytes_size, said.bytes.ob_size);
  set(layout.bytes_data, said.bytes.ob_sval);
  set(layout.text_state, said.unicode.state);
  set(layout.text_length, said.unicode.length);
  set(layout.ascii_data, said.unicode.asciiobject_size);
  // Behind the ASCII part of a string with other characters: utf8 and its length.
  set(layout.compact_data, said.unicode.asciiobject_size + 2 * sizeof(uint64_t));
}

template <typename Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

bool python_layout(int minor, PythonLayout& layout) {
  switch (minor) {
    case 10: layout = kPython310; return true;
    case 11: layout = kPython311; return true;
    case 12: layout = kPython312; return true;
    case 13: layout = kPython313; return true;
    default: return false;
  }
}

PythonSearch find_python(void* library) {
  PythonSearch search;
  const char* (*get_version)() = nullptr;
  look_up(library, "Py_GetVersion", get_version);
  if (get_version == nullptr) return search;
  search.is_found = true;
  // "3.12.1 (main, ...) [GCC ...]". Needs neither a lock nor an interpreter that is initialised: it
  // writes the same text to the same place each time.
  const std::string_view version = get_version();
  const std::string number(version.substr(0, version.find(' ')));
  const auto refuse = [&](const char* reason, std::string detail) {
    search.reason = reason;
    search.detail = std::move(detail);
    return search;
  };
  PythonRuntime& runtime = search.runtime;
  int minor = 0;
  if (version.starts_with("3.")) {
    std::from_chars(number.data() + 2, number.data() + number.size(), minor);
  }
  if (!python_layout(minor, runtime.layout)) {
    return refuse("python_version_unsupported",
                  "Python " + number + ": its frames can be read from 3.10 to 3.13");
  }
  // Only a debug build has it; there objects may begin with further fields.
  if (dlsym(library, "_Py_NegativeRefcount") != nullptr) {
    return refuse("python_debug_build", "Python " + number + " is a debug build");
  }
  if (runtime.layout.thread_cframe == 0) {
    const auto* said = static_cast<const DebugOffsets*>(dlsym(library, "_PyRuntime"));
    if (said == nullptr || std::memcmp(said->cookie, "xdebugpy", sizeof(said->cookie)) != 0) {
      return refuse("python_version_unsupported",
                    "Python " + number + " does not describe the layout of its frames");
    }
    if (said->free_threaded != 0) {
      return refuse("python_free_threaded",
                    "Python " + number + " has no global lock, and a different object layout");
    }
    apply(*said, runtime.layout);
  }
  look_up(library, "PyGILState_GetThisThreadState", runtime.this_thread_state);
  look_up(library, "Py_IsFinalizing", runtime.is_finalizing);
  if (runtime.is_finalizing == nullptr) look_up(library, "_Py_IsFinalizing", runtime.is_finalizing);
  runtime.code_type = dlsym(library, "PyCode_Type");
  if (runtime.this_thread_state == nullptr || runtime.is_finalizing == nullptr ||
      runtime.code_type == nullptr) {
    return refuse("python_version_unsupported",
                  "Python " + number + " does not export what reading a stack needs");
  }
  search.is_usable = true;
  return search;
}

}  // namespace gpufl::symbols
