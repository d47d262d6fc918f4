// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "symbols/unwind_step.hpp"

// Reads the unwind tables (.eh_frame) of a module that is mapped into this process. Any thread; no
// allocation, no lock. Malformed tables give no step, never a read outside of the module.
namespace gpufl::symbols {

// What evaluation needs to know of the module that an address lies in.
struct CodeModule {
  uintptr_t begin = 0, end = 0;  // where it is mapped
  uintptr_t eh_frame_hdr = 0;    // 0: it has no table

  bool contains(uintptr_t address) const { return address >= begin && address < end; }
};

// The step in force at `pc`, an address inside of the instruction that is executing: for a caller,
// a byte before the return address, which may already belong to the next function. StepKind::None:
// no table entry covers it, or what it says is beyond what a step can hold.
UnwindStep evaluate_cfi(const CodeModule& module, uintptr_t pc) noexcept;

}  // namespace gpufl::symbols
