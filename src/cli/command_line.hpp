// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// What every program of GPUFlight does alike with its command line: --help and --version, and one
// way to say that it was wrong. Main thread only.
namespace gpufl::cli {

// Sets the look of help texts and adds --version. Before any option is added.
void set_up_command_line(CLI::App& app);

// Parses and thereby runs the command that was asked for, which leaves its code in `exit_code`.
// Wrong usage goes to stderr in one sentence with a hint, and the code is 64. Output that could not
// be written makes it 2.
int run_command_line(CLI::App& app, int argc, char** argv, const int& exit_code);

}  // namespace gpufl::cli
