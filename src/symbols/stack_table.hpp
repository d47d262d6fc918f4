// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// CPU stacks of this process's threads, taken where they happen and kept once each. record() runs
// on the program's threads inside a vendor's callback; once warm it takes no lock, allocates
// nothing and makes no system call. Everything else is for the collector's thread, though any may
// call. Process-wide, never destroyed, bounded: what finds no room is counted.
namespace gpufl::symbols {

struct StackFrame {
  // Python: what the interpreter says. Native: empty, line 0; "<cut>" where outer frames are
  // missing because the stack was too deep.
  std::string function, file;
  int64_t line = 0;  // Python: 0 where the instruction belongs to no line
  // Native: where the address lies.
  std::string module;         // path of the file; empty: none is mapped there
  std::string build_id;       // hex; empty: it has none
  uint64_t module_bytes = 0;  // what it takes of the address space
  // Of the return address, in the file's own numbering (as in its symbol table): the byte before it
  // is of the call. Where a signal interrupted, the byte before it is of the instruction.
  uint64_t offset = 0;
  bool is_program = false;   // the module is the program itself
  bool holds_gpufl = false;  // the module is the one that this code is in
  bool is_python() const { return line != 0 || !file.empty(); }
};

// A part of stacks that cannot be had in this process.
struct StackLimitation {
  std::string reason;  // a stable word: "machine_unsupported", "python_version_unsupported", ...
  std::string detail;  // a sentence
};

class StackTable {
 public:
  // The first call makes it: not from a callback.
  static StackTable& instance();

  // The calling thread's stack, innermost frame first, from the caller of this function on. 0:
  // nothing could be told, or no room. Inside of `record` nothing of Python runs or is locked.
  uint32_t record() noexcept;
  // The same of its Python functions alone, out to the innermost of the program's own: where that
  // line says enough, at a fraction of the price.
  uint32_t record_python_line() noexcept;

  // The frames of a stack that record() has returned.
  std::vector<StackFrame> frames(uint32_t id);
  // Once a round: forgets how to unwind code that was unloaded, finds an interpreter that was
  // loaded.
  void refresh();
  uint64_t dropped() const;  // stacks that found no room, since the process began
  std::vector<StackLimitation> limitations();

 private:
  StackTable() = default;
};

}  // namespace gpufl::symbols
