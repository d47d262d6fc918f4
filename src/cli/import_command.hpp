// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// `gpufl import`: traces of other tools as sessions. Main thread only.
namespace gpufl::cli {

void add_import_command(CLI::App& app, int& exit_code);

}  // namespace gpufl::cli
