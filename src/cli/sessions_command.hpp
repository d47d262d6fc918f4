// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "cli/command_line.hpp"

// What commands on recorded sessions share: how they are told which. Main thread only.
namespace gpufl::cli {

// Adds a command that takes a folder of sessions and --json, and runs `run` with them.
Command add_sessions_command(Command program, const std::string& name,
                             const std::string& description,
                             std::function<int(const std::string& path, bool json)> run);

}  // namespace gpufl::cli
