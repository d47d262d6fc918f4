// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl metrics`: which hardware counters a chip has, which engine counts them, and how many
// passes a set of them needs.
namespace gpufl::cli {

void add_metrics_command(Command program);

}  // namespace gpufl::cli
