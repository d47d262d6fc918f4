// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl export`: a session or a run in the formats of other tools. Main thread only.
namespace gpufl::cli {

void add_export_command(Command program);

}  // namespace gpufl::cli
