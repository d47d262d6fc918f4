// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "symbols/source_lines.hpp"

// The options of every verb that keeps source text beside a session.
namespace gpufl::cli {

struct SourceLine {
  std::vector<std::string> roots, excluded_roots;
  uint64_t max_mb = symbols::SourceOptions{}.max_bytes >> 20;

  symbols::SourceOptions options() const;
};

// `line` outlives the command.
void add_source_options(Command command, SourceLine& line);

}  // namespace gpufl::cli
