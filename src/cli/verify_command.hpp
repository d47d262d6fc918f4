// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// `gpufl verify`: checks sessions and says whether they can be believed.
namespace gpufl::cli {

void add_verify_command(CLI::App& app, int& exit_code);

}  // namespace gpufl::cli
