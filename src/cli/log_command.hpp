// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl log`: lists a session's windows and what they hold.
namespace gpufl::cli {

void add_log_command(Command program);

}  // namespace gpufl::cli
