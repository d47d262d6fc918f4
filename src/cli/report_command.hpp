// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "analysis/insights/thresholds.hpp"
#include "cli/command_line.hpp"
#include "report/session_report.hpp"

// `gpufl report`: the report of a session, the same text as generateReport's, or of a run.
namespace gpufl::cli {

void add_report_command(Command program);

enum class ReportFormat : uint8_t { Text, Json, Markdown, Html };

struct ReportRequest {
  std::filesystem::path path;
  bool all = false;  // every session below the path
  ReportFormat format = ReportFormat::Text;
  report::TextOptions text = {};
  std::string scope = {};  // only work of scopes that it matches; empty: all
  std::optional<int64_t> device = std::nullopt;
  analysis::Thresholds thresholds = {};
  std::function<bool(uint64_t done, uint64_t total)> progress = {};  // bytes of one session
};

struct ReportOutcome {
  std::string text;    // the report
  std::string errors;  // for stderr
  int exit_code = 0;
};

// Of the newest session below the path, or of all of them, oldest first; of a run's folder as a
// whole.
ReportOutcome make_reports(const ReportRequest& request);

}  // namespace gpufl::cli
