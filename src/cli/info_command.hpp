// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl info`: the GPUs of the machine and what does not change about them.
namespace gpufl::cli {

void add_info_command(Command program);

}  // namespace gpufl::cli
