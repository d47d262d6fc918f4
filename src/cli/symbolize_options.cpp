// SPDX-License-Identifier: Apache-2.0
#include "cli/symbolize_command.hpp"
#include "symbols/libdw_api.hpp"

namespace gpufl::cli {

symbols::SymbolizeOptions symbolize_options() {
  symbols::SymbolizeOptions options;
  options.libdw = &symbols::linked_libdw();
  return options;
}

}  // namespace gpufl::cli
