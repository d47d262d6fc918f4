// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

// `gpufl report`: the report of a session, the same text as generateReport's, or of a run.
namespace gpufl::cli {

void add_report_command(Command program);

}  // namespace gpufl::cli
