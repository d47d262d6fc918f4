// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

namespace gpufl::cli {

// `gpufl login`: checks a server's key and keeps it for later commands.
void add_login_command(Command program);

}  // namespace gpufl::cli
