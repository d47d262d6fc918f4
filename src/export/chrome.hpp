// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/session/session_data.hpp"
#include "export/output_file.hpp"
#include "export/progress.hpp"

// A run as Chrome's trace event JSON: what write_perfetto tells, for tools that read no other. A
// GPU is a process of its own there, with a thread for each stream. Times are decimal text made
// from whole nanoseconds. Streams out; about 600 bytes a kernel. One thread.
namespace gpufl::exporting {

void write_chrome(const analysis::RunData& run, OutputFile& out, Progress& progress);

}  // namespace gpufl::exporting
