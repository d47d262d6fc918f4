// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// `gpufl log`: lists a session's windows and what they hold.
namespace gpufl::cli {

void add_log_command(CLI::App& app, int& exit_code);

}  // namespace gpufl::cli
