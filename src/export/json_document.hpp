// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/session/session_data.hpp"
#include "export/output_file.hpp"
#include "export/progress.hpp"

// A run as one JSON document that says what it holds: each session's header, ledger and devices,
// and its tables as columns with their types and rows as lists. Ids of 64 bits and absolute times
// are strings. Streams out. One thread.
namespace gpufl::exporting {

void write_json(const analysis::RunData& run, OutputFile& out, Progress& progress);

}  // namespace gpufl::exporting
