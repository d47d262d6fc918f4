// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "base/elf64.hpp"
#include "disassembly/kernel_code.hpp"

// The line table of an image of NVIDIA's (.debug_line), with its own extension for functions that
// were inlined. It is read here because nvdisasm's `-gi` names wrong callers: it counts rows that
// stand there twice, by whose numbers the table refers to callers, and the compiler does not. Pure;
// any thread.
namespace gpufl::disassembly {

// Gives the instructions of each section the lines that the table has for them, instead of what
// they had. Sections that the table does not mention, and all where it cannot be read, keep theirs.
void add_line_chains(const base::Elf64& elf, std::vector<KernelCode>& code);

}  // namespace gpufl::disassembly
