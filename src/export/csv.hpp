// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "analysis/session/session_data.hpp"
#include "export/output_file.hpp"
#include "export/progress.hpp"

// A run as CSV (RFC 4180), one file for each table that has rows, with a line for each row of every
// session. Numbers are whole, unknown cells empty. One thread.
namespace gpufl::exporting {

// The files, not committed yet, in `folder`, which must be there. `overwrite`: as of OutputFile.
base::Result<std::vector<OutputFile>> write_csv(const analysis::RunData& run,
                                                const std::filesystem::path& folder, bool overwrite,
                                                Progress& progress);

// Adds `text` as one field: quoted where it must be.
void append_csv_field(std::string& out, std::string_view text);

}  // namespace gpufl::exporting
