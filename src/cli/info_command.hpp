// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// `gpufl info`: the GPUs of the machine and what does not change about them.
namespace gpufl::cli {

void add_info_command(CLI::App& app, int& exit_code);

}  // namespace gpufl::cli
