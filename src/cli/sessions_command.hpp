// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "cli/command_line.hpp"

// What commands on recorded sessions share: how they are told which, and what they say where there
// is none. Main thread only.
namespace gpufl::cli {

// Adds a command that takes a folder of sessions and --json, and runs `run` with them.
Command add_sessions_command(Command program, const std::string& name,
                             const std::string& description,
                             std::function<int(const std::string& path, bool json)> run);

// "PATH: there is no session in it", after format::find_sessions(path) has found none.
std::string why_no_session(const std::filesystem::path& path);

}  // namespace gpufl::cli
