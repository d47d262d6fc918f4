// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// `gpufl control`: asks processes that record, over their sockets, to record or to pause, and what
// they are doing.
namespace gpufl::cli {

void add_control_command(CLI::App& app, int& exit_code);

}  // namespace gpufl::cli
