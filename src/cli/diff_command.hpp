// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl diff`: what differs between two sessions, or between two groups of repeats.
namespace gpufl::cli {

void add_diff_command(Command program);

}  // namespace gpufl::cli
