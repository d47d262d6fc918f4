// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl symbolize`: names the native frames of recorded sessions, and keeps the names beside the
// logs.
namespace gpufl::cli {

void add_symbolize_command(Command program);

}  // namespace gpufl::cli
