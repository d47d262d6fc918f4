// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "disassembly/kernel_code.hpp"

// What an image of NVIDIA's says without a disassembler: its functions, what they need, and the PTX
// that it was made of. Nothing in the image is trusted. Pure functions; any thread.
namespace gpufl::disassembly {

struct CubinSection {
  std::string name;     // of its code: ".text.<name>"
  uint32_t symbol = 0;  // number of the symbol of that name; 0: none
  bool is_kernel = false;
  uint64_t bytes = 0;
  Resources resources;
  std::vector<Routine> routines;  // by offset
};

struct Cubin {
  std::vector<CubinSection> sections;
  std::vector<std::string> ptx;  // lines; empty: it carries none

  // The section that a function's code is in, by the section's name or a routine's; null: none.
  const CubinSection* find(std::string_view function) const;
};

// Corrupt for what is no image of NVIDIA's.
base::Result<Cubin> read_cubin(std::string_view image);

}  // namespace gpufl::disassembly
