// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl open`: a session, or another tool's trace, in a browser. Main thread only.
namespace gpufl::cli {

void add_open_command(Command program);

}  // namespace gpufl::cli
