// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl disassemble`: keeps the code of a session's kernels beside its log.
namespace gpufl::cli {

void add_disassemble_command(Command program);

}  // namespace gpufl::cli
