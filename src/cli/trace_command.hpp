// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl trace`: runs a program that knows nothing of us, so that each of its processes that uses
// CUDA records a session.
namespace gpufl::cli {

void add_trace_command(Command program);

}  // namespace gpufl::cli
