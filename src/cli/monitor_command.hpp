// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// `gpufl monitor`: records GPU and host health of this machine and shows it.
namespace gpufl::cli {

void add_monitor_command(CLI::App& app, int& exit_code);

}  // namespace gpufl::cli
