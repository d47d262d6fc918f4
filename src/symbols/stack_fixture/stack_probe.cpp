// SPDX-License-Identifier: Apache-2.0
// A library that takes stacks for a program in another language: what python_stacks.py loads.
#include <cstring>
#include <string>

#include "symbols/stack_table.hpp"

using gpufl::symbols::StackFrame;
using gpufl::symbols::StackTable;

#define PROBE_EXPORT extern "C" __attribute__((visibility("default")))

PROBE_EXPORT uint32_t probe_record() {
  StackTable& table = StackTable::instance();
  table.refresh();
  const uint32_t id = table.record();
  asm volatile("" ::: "memory");  // or the call would be a jump, and this function no frame
  return id;
}

PROBE_EXPORT uint32_t probe_record_python_line() {
  StackTable::instance().refresh();
  return StackTable::instance().record_python_line();
}

// Calls back: what lies between two runs of an interpreter.
PROBE_EXPORT __attribute__((noinline)) uint32_t probe_call(uint32_t (*callback)()) {
  const uint32_t id = callback();
  asm volatile("" ::: "memory");
  return id;
}

// One line a frame: "P function|file|line" or "N module". Returns how long the text is; cut at
// `size`.
PROBE_EXPORT size_t probe_frames(uint32_t id, char* out, size_t size) {
  std::string text;
  for (const StackFrame& frame : StackTable::instance().frames(id)) {
    if (frame.is_python()) {
      text += "P " + frame.function + "|" + frame.file + "|" + std::to_string(frame.line) + "\n";
    } else {
      text += "N " + (frame.module.empty() ? frame.function : frame.module) + "\n";
    }
  }
  const size_t kept = text.size() < size ? text.size() : size - 1;
  std::memcpy(out, text.data(), kept);
  out[kept] = '\0';
  return text.size();
}

// The reasons of the table's limitations, a line each.
PROBE_EXPORT void probe_limitations(char* out, size_t size) {
  std::string text;
  for (const auto& limitation : StackTable::instance().limitations()) {
    text += limitation.reason + "\n";
  }
  const size_t kept = text.size() < size ? text.size() : size - 1;
  std::memcpy(out, text.data(), kept);
  out[kept] = '\0';
}
