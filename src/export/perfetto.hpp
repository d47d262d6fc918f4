// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/session/session_data.hpp"
#include "export/output_file.hpp"
#include "export/progress.hpp"

// A run as Perfetto's native trace (protobuf): for each process its threads (scopes, markers, API
// calls, waits), GPUs with their streams (kernels, copies, memsets, graphs) and counters; an arrow
// from each call to its work. Streams out; about 150 bytes a kernel. One thread.
namespace gpufl::exporting {

void write_perfetto(const analysis::RunData& run, OutputFile& out, Progress& progress);

}  // namespace gpufl::exporting
