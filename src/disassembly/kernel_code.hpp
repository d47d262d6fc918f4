// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The code of a kernel as a person reads it: instructions, the lines that they come from, and what
// the kernel needs of a multiprocessor. Plain data.
namespace gpufl::disassembly {

struct SourcePlace {
  uint32_t file = 0;  // index of KernelCode::files
  uint32_t line = 0;
  auto operator<=>(const SourcePlace&) const = default;
};
// A place, and where the function that it is in was inlined: innermost first.
using InlineChain = std::vector<SourcePlace>;

inline constexpr uint32_t kNoChain = UINT32_MAX;

struct Instruction {
  uint32_t offset = 0;          // in the section, in bytes
  std::string text;             // as the disassembler has it, without the semicolon
  uint32_t chain = kNoChain;    // index of KernelCode::chains; kNoChain: it has no line
  uint32_t ptx_line = 0;        // of the module's PTX; 0: unknown
  int64_t target = -1;          // offset that it may branch to; -1: none, or not known
  int32_t live_registers = -1;  // general ones that hold a value here; -1: unknown
  bool operator==(const Instruction&) const = default;
};

// A function within the section: the kernel itself, or one that was not inlined.
struct Routine {
  std::string name;  // mangled
  uint32_t offset = 0, size = 0;
  bool operator==(const Routine&) const = default;
};

// As the compiler decided. Absent: the image does not say.
struct Resources {
  std::optional<int64_t> registers;       // of a thread
  std::optional<int64_t> stack_bytes;     // of a thread
  std::optional<int64_t> shared_bytes;    // of a block; static ones, and what the system reserves
  std::optional<int64_t> constant_bytes;  // parameters included
  std::optional<int64_t> local_bytes;     // of a thread
  bool operator==(const Resources&) const = default;
};

// One code section: a kernel, or a function that kernels of several sections call.
struct KernelCode {
  std::string module;  // hash of its image: 16 hex digits
  std::string name;    // mangled: the section's
  bool is_kernel = false;
  Resources resources;
  std::vector<Routine> routines;  // by offset
  std::vector<std::string> files;
  std::vector<InlineChain> chains;
  std::vector<Instruction> instructions;  // by offset
  bool operator==(const KernelCode&) const = default;

  const Routine* find_routine(std::string_view routine_name) const {
    for (const Routine& routine : routines) {
      if (routine.name == routine_name) return &routine;
    }
    return nullptr;
  }
};

}  // namespace gpufl::disassembly
