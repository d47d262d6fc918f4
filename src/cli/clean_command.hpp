// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// `gpufl clean`: deletes recorded sessions, and nothing else. Main thread only.
namespace gpufl::cli {

void add_clean_command(CLI::App& app, int& exit_code);

}  // namespace gpufl::cli
