// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl sql`: a question in SQL to recorded sessions.
namespace gpufl::cli {

void add_sql_command(Command program);

}  // namespace gpufl::cli
