// SPDX-License-Identifier: Apache-2.0
#include "cli/symbolize_command.hpp"
#include "symbols/libdw_api.hpp"

// In place of src/cli/symbolize_options.cpp: what is loaded into other people's programs does not
// link elfutils, but opens the system's where there is one.
namespace gpufl::cli {

symbols::SymbolizeOptions symbolize_options() {
  symbols::SymbolizeOptions options;
  if (const auto libdw = symbols::opened_libdw()) options.libdw = *libdw;
  return options;
}

}  // namespace gpufl::cli
