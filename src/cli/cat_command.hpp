// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl cat`: prints the events of one kind as flat JSON objects.
namespace gpufl::cli {

void add_cat_command(Command program);

}  // namespace gpufl::cli
