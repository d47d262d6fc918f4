// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/session/session_data.hpp"
#include "export/output_file.hpp"
#include "export/progress.hpp"

// A run as pprof's profile.proto: kernels and waits by the CPU stack behind them, with kernel or
// call, scope and rank as labels. The file is to be compressed by `out`. Memory follows distinct
// stacks. One thread.
namespace gpufl::exporting {

void write_pprof(const analysis::RunData& run, OutputFile& out, Progress& progress);

}  // namespace gpufl::exporting
