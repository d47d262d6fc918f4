// SPDX-License-Identifier: Apache-2.0
#include "workbench/export_run.hpp"

#include <utility>

namespace gpufl::workbench {

base::Result<ExportedRun> export_run(const analysis::RunData& run, const ExportRequest& request) {
  exporting::ExportOptions options{request.output, request.overwrite, nullptr};
  if (options.output.empty()) options.output = exporting::default_name(run, request.target);
  if (request.progress) {
    options.progress = [&](uint64_t done, uint64_t total) {
      return request.progress(Stage::Writing, done, total);
    };
  }
  auto written = exporting::write_export(run, request.target, options);
  if (!written) return written.status();
  return ExportedRun{options.output, std::move(*written)};
}

}  // namespace gpufl::workbench
