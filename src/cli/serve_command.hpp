// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl serve`: the sessions of a folder over HTTP, for this machine. Main thread only.
namespace gpufl::cli {

void add_serve_command(Command program);

}  // namespace gpufl::cli
