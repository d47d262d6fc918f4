// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl monitor`: records GPU and host health of this machine and shows it.
namespace gpufl::cli {

void add_monitor_command(Command program);

}  // namespace gpufl::cli
