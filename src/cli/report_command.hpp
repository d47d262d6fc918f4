// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>

#include "report/text_report.hpp"

// `gpufl report`: the report of a session, the same text as generateReport's.
namespace gpufl::cli {

void add_report_command(CLI::App& app, int& exit_code);

struct ReportOutcome {
  std::string text;    // for stdout
  std::string errors;  // for stderr
  int exit_code = 0;
};

// Of the newest session below `path`, or of all of them, oldest first; of a run's folder in brief.
ReportOutcome make_reports(const std::filesystem::path& path, bool all,
                           const report::TextOptions& options);

}  // namespace gpufl::cli
