// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

namespace gpufl::cli {

void add_store_command(Command program);

}  // namespace gpufl::cli
