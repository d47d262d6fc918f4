// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl control`: asks processes that record, over their sockets, to record or to pause, and what
// they are doing.
namespace gpufl::cli {

void add_control_command(Command program);

}  // namespace gpufl::cli
