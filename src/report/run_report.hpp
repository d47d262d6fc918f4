// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/insights/insight.hpp"
#include "analysis/overview/run_overview.hpp"
#include "analysis/summary/summary.hpp"
#include "report/page.hpp"
#include "report/session_report.hpp"

// All sessions of a run, one line each, and what they come to together: the end of `gpufl trace`,
// and `gpufl report` of a run's folder. Any thread.
namespace gpufl::report {

// Views: the caller owns what they show.
struct RunReport {
  const analysis::RunData& run;
  const analysis::RunOverview& overview;        // made by analyze_run() of that run
  std::span<const analysis::Insight> insights;  // of the run as a whole
  size_t left_out = 0;  // sessions of the run that have nothing of what was asked for
  std::span<const std::vector<analysis::Insight>> of_sessions = {};  // insights of each, or none
};

// Plain ASCII but for names from the log and insights. Ends with a newline.
std::string run_report(const RunReport& report, const TextOptions& options = {});
// The same content as Markdown.
std::string markdown_run_report(const RunReport& report, const TextOptions& options = {});

// All of it, onto any page.
void write_report(Page& page, const RunReport& report, const TextOptions& options);

// What sessions come to without their rows being looked at.
std::string run_report(std::span<const analysis::SessionSummary> sessions,
                       const TextOptions& options = {});

}  // namespace gpufl::report
