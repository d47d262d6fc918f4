// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// `gpufl cat`: prints the events of one kind as flat JSON objects.
namespace gpufl::cli {

void add_cat_command(CLI::App& app, int& exit_code);

}  // namespace gpufl::cli
