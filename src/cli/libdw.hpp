// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "symbols/symbolize_session.hpp"

// How this program reads debug information.
namespace gpufl::cli {

// The libdw that the build links, or where it links none the machine's; null: there is none.
const symbols::LibdwApi* libdw();

// Whether native frames have no name because this machine has no libdw; then it says what to do.
bool complain_of_no_libdw(std::string_view who, const symbols::SymbolizeOutcome& outcome);

}  // namespace gpufl::cli
