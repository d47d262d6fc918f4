// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl agent`: sends the sessions of a folder to a server as they are recorded.
namespace gpufl::cli {

void add_agent_command(Command program);

}  // namespace gpufl::cli
