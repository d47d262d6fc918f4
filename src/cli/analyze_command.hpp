// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl analyze`, which the server starts for each analysis of a whole session and no help text
// lists. Main thread only.
namespace gpufl::cli {

void add_analyze_command(Command program);

}  // namespace gpufl::cli
