// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "disassembly/kernel_code.hpp"

// What nvdisasm prints, read: `-c -gi -gp` for code with lines, `-c -plr -lrm count` for the live
// registers. Lines that are not understood are passed over. Pure functions; any thread.
namespace gpufl::disassembly {

// One for each code section, in the listing's order; module, routines and resources are left empty.
std::vector<KernelCode> parse_listing(std::string_view listing);

// "sm_90": what the listing says that the code is for; empty: it does not.
std::string listed_target(std::string_view listing);

// Puts the numbers of live registers into `code`, by section and offset.
void add_live_registers(std::string_view listing, std::vector<KernelCode>& code);

}  // namespace gpufl::disassembly
