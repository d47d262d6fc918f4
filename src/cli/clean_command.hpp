// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl clean`: deletes recorded sessions, and nothing else. Main thread only.
namespace gpufl::cli {

void add_clean_command(Command program);

}  // namespace gpufl::cli
