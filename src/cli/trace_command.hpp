// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// `gpufl trace`: runs a program that knows nothing of us, so that each of its processes that uses
// CUDA records a session.
namespace gpufl::cli {

void add_trace_command(CLI::App& app, int& exit_code);

}  // namespace gpufl::cli
