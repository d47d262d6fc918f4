// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/session/session_data.hpp"
#include "export/output_file.hpp"
#include "export/progress.hpp"

// A run as speedscope's file: for each thread its scopes over time, and for each session GPU time
// by scope, GPU time by CPU stack and blocked time by CPU stack, as far as they were recorded.
// Times are whole nanoseconds of the run's axis. One thread.
namespace gpufl::exporting {

void write_speedscope(const analysis::RunData& run, OutputFile& out, Progress& progress);

}  // namespace gpufl::exporting
