// SPDX-License-Identifier: Apache-2.0
#include "cli/symbolize_command.hpp"
#include "symbols/libdw_api.hpp"

namespace gpufl::cli {

symbols::SymbolizeOptions symbolize_options() {
  symbols::SymbolizeOptions options;
  options.libdw = &symbols::linked_libdw();
  return options;
}

symbols::SymbolizeOptions reading_options() {
  symbols::SymbolizeOptions options = symbolize_options();
  options.sources.enabled = false;
  return options;
}

}  // namespace gpufl::cli
