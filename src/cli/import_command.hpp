// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl import`: traces of other tools as sessions. Main thread only.
namespace gpufl::cli {

void add_import_command(Command program);

}  // namespace gpufl::cli
