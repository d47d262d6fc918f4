// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "symbols/symbolize_session.hpp"

// `gpufl symbolize`: names the native frames of recorded sessions, and keeps the names beside the
// logs.
namespace gpufl::cli {

void add_symbolize_command(Command program);

// With the library that our programs link, or in Python's extension the one that it finds; for
// symbols::symbolize_session.
symbols::SymbolizeOptions symbolize_options();
// The same for commands that only read: no source text is gathered.
inline symbols::SymbolizeOptions reading_options() {
  symbols::SymbolizeOptions options = symbolize_options();
  options.sources.enabled = false;
  return options;
}

}  // namespace gpufl::cli
