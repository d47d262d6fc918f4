// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl gate`: whether a program has become slower than rules allow; for CI.
namespace gpufl::cli {

void add_gate_command(Command program);

}  // namespace gpufl::cli
