// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// `gpufl export`: a session or a run in the formats of other tools. Main thread only.
namespace gpufl::cli {

void add_export_command(CLI::App& app, int& exit_code);

}  // namespace gpufl::cli
