// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl verify`: checks sessions and says whether they can be believed.
namespace gpufl::cli {

void add_verify_command(Command program);

}  // namespace gpufl::cli
