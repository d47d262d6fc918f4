// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl sessions`: what is on disk.
namespace gpufl::cli {

void add_sessions_list_command(Command program);

}  // namespace gpufl::cli
