// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/status.hpp"
#include "export/export.hpp"
#include "workbench/open.hpp"

// A session or a run in another tool's format: what open_one() gave, written. One thread.
namespace gpufl::workbench {

struct ExportRequest {
  exporting::Target target = exporting::Target::Perfetto;
  // A name that ends in .gz is compressed, "-" is standard output, for CSV it is a folder; empty:
  // named after the session or the run, in the working folder.
  std::filesystem::path output;
  bool overwrite = false;
  Progress progress = nullptr;
};

struct ExportedRun {
  std::filesystem::path output;
  exporting::Written written;
};

// Fails as exporting::write_export does; what there was of the output is gone then.
base::Result<ExportedRun> export_run(const analysis::RunData& run, const ExportRequest& request);

}  // namespace gpufl::workbench
