// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/insights/thresholds.hpp"
#include "base/status.hpp"
#include "report/run_report.hpp"
#include "report/session_report.hpp"
#include "workbench/answer_format.hpp"
#include "workbench/kernel_report.hpp"
#include "workbench/open.hpp"

// The report of what lies at a path: of one session, of a run as a whole, or of every session. One
// session or run is in memory at a time.
namespace gpufl::workbench {

inline constexpr std::array kReportFormats = {Format::Text, Format::Json, Format::Markdown,
                                              Format::Html};

struct ReportRequest {
  std::filesystem::path path;
  bool all = false;     // every session at or below the path; not as a page
  bool as_run = false;  // one process that ran in several passes is a run, too
  Format format = Format::Text;
  report::TextOptions text = {};
  std::string scope = {};  // only work of scopes that it matches; empty: all
  std::optional<int64_t> device = std::nullopt;
  KernelRequest kernel = {};  // of one kernel only, not as a page; empty: of all there is
  analysis::Thresholds thresholds = {};
  OpenOptions open = {};
};

// Lines that a caller may add to the text of a short report: the sessions of a run, and that there
// are others.
inline constexpr size_t kLinesOfSessions = 6, kLinesOfOthers = 4;

struct ReportOutcome {
  std::string text;     // one report after the other; empty: there is none
  bool is_run = false;  // it is of a run as a whole
  // What was to be reported, oldest first, copies left out: one session, a run's, or all.
  std::vector<std::filesystem::path> chosen;
  // What the text is of: of a run, by rank.
  std::vector<std::filesystem::path> reported;
  // The other sessions that lie there, newest first.
  std::vector<std::filesystem::path> others;
  bool passes_over_newer = false;  // the newest of them recorded nothing
  // Sentences: sessions that could not be read and may be newer, copies that were left out.
  std::vector<std::string> notes;
  // What could not be read or does not hold what was asked for; each sentence names its session.
  std::vector<base::Status> failures;
};

// Of the newest session at or below the path, or of the run that it is of; or of all, oldest first.
// One that recorded nothing is passed over, and a note says so, unless there is no other. Of a run
// of several passes these are merged, unless the path is that of one session.
ReportOutcome make_reports(const ReportRequest& asked);

// A report in any of kReportFormats but a page, which is of a run. Ends with a newline.
std::string write_report(const report::SessionReport& report, Format format,
                         const report::TextOptions& options);
// In any of kReportFormats. A page needs the insights of each session.
std::string write_report(const report::RunReport& report, Format format,
                         const report::TextOptions& options);

}  // namespace gpufl::workbench
