// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

namespace gpufl::cli {

// `gpufl upload`: sends sessions to a server.
void add_upload_command(Command program);

}  // namespace gpufl::cli
