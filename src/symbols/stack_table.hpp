// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// CPU stacks of this process's threads, taken where they happen and kept once each. record() runs
// on the program's threads inside a vendor's callback; once warm it takes no lock, allocates
// nothing and makes no system call. Everything else is the collector's thread. Process-wide, never
// destroyed, bounded: what finds no room is counted.
namespace gpufl::symbols {

struct StackFrame {
  // Python: what the interpreter says. Native: empty, line 0.
  std::string function, file;
  int64_t line = 0;
  // Native: where the return address lies.
  std::string module;    // path of the file; empty: none is mapped there
  std::string build_id;  // hex; empty: it has none
  uint64_t offset = 0;   // of the address in the file's own numbering (as in its symbol table)
  bool is_python() const { return line != 0 || !file.empty(); }
};

class StackTable {
 public:
  static StackTable& instance();

  // The calling thread's stack, innermost frame first, without this library's and the vendor's own
  // frames above the API function. 0: nothing could be told, or no room.
  uint32_t record() noexcept;

  // The frames of a stack that record() has returned.
  std::vector<StackFrame> frames(uint32_t id) const;
  // Once a round: forgets how to unwind code that was unloaded.
  void refresh();
  uint64_t dropped() const;  // stacks that found no room, since the process began
};

}  // namespace gpufl::symbols
