// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// Where CPython keeps what a stack needs: offsets into its structures, by version. Found once, off
// the program's threads. Tests compare every number with the headers of the interpreters that are
// installed.
namespace gpufl::symbols {

struct PythonLayout {
  // How a run of the interpreter's evaluation loop shows among Python frames.
  enum class Entry : uint8_t {
    EveryFrame,  // one run a frame
    Flag,        // the run began with the frame that has is_entry set
    Shim,        // the run began with a frame that is no Python function, on the C stack
  };
  Entry entry = Entry::EveryFrame;
  bool instruction_is_index = false;  // else a pointer into the code
  bool line_table_is_pairs = false;   // else the location table of 3.11

  uint16_t thread_frame = 0;   // the innermost frame; 0: through the C frame
  uint16_t thread_cframe = 0;  // 0: there is none
  uint16_t cframe_frame = 0, cframe_previous = 0;
  uint16_t frame_code = 0, frame_previous = 0, frame_instruction = 0;
  uint16_t frame_entry = 0;  // Flag: is_entry; Shim: owner
  uint16_t code_filename = 0, code_name = 0, code_first_line = 0, code_line_table = 0;
  uint16_t code_instructions = 0;  // not of 3.10
  uint16_t code_version = 0;       // a number that no other code object had; 0: none before 3.12
  uint16_t object_type = 8;
  uint16_t bytes_size = 16, bytes_data = 32;
  uint16_t text_length = 16, text_state = 32, ascii_data = 0, compact_data = 0;
};

// What owner says of a shim.
inline constexpr uint8_t kPythonOwnedByCStack = 3;

// An interpreter in this process, and the three of its functions that need no lock of its own.
struct PythonRuntime {
  PythonLayout layout;
  const void* (*this_thread_state)() = nullptr;  // null: the thread runs no Python
  int (*is_finalizing)() = nullptr;
  const void* code_type = nullptr;
};

struct PythonSearch {
  bool is_found = false;   // there is an interpreter
  bool is_usable = false;  // and its frames can be read
  PythonRuntime runtime;
  std::string reason, detail;  // why not: a stable word, a sentence
};

// `library` is a handle of dlopen(): libpython, or RTLD_DEFAULT for one in the program itself.
PythonSearch find_python(void* library);

// For tests: the layout of 3.<minor>; false: unknown. 3.13 says its own, see find_python().
bool python_layout(int minor, PythonLayout& layout);

}  // namespace gpufl::symbols
