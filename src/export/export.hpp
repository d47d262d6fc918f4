// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/session/session_data.hpp"
#include "base/status.hpp"
#include "export/progress.hpp"

// A session or a run for other tools. Files are there whole or not at all; one that is there is
// replaced only where that was asked for. One thread.
namespace gpufl::exporting {

enum class Target : uint8_t { Perfetto, Chrome, Speedscope, Pprof, Csv, Json };

std::optional<Target> target_of(std::string_view word);  // "perfetto"
// In the order in which help texts list them.
const std::vector<std::string>& target_words();
// "gpt-20261115T034512Z-1f2e.perfetto-trace"; for CSV a folder.
std::string default_name(const analysis::RunData& run, Target target);

struct ExportOptions {
  // A name that ends in .gz is compressed; "-" is standard output. For CSV a folder.
  std::filesystem::path output;
  bool overwrite = false;
  ProgressCallback progress;  // rows so far and in all; false: stop, and leave no file behind
};

struct Written {
  std::vector<std::filesystem::path> files;
  uint64_t bytes = 0;
};

// InvalidArgument when a file is there already, or the run holds nothing that the target could
// show; Cancelled; else as the operating system says.
base::Result<Written> write_export(const analysis::RunData& run, Target target,
                                   const ExportOptions& options);

}  // namespace gpufl::exporting
