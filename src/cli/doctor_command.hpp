// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl doctor`: what of this machine GPUFlight can use, and what to do about the rest.
namespace gpufl::cli {

void add_doctor_command(Command program);

}  // namespace gpufl::cli
