// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "analysis/summary/summary.hpp"
#include "report/page.hpp"
#include "report/session_report.hpp"

// The report of a session as text: `gpufl report` and generateReport. Session, what was asked and
// not possible, and ledger come first. A number that the log does not support is "unknown", with
// the reason. Any thread.
namespace gpufl::report {

// Plain ASCII but for names from the log and insights. Ends with a newline.
std::string text_report(const SessionReport& report, const TextOptions& options = {});
// The same content as Markdown's headings and tables; width and colour do not count.
std::string markdown_report(const SessionReport& report, const TextOptions& options = {});

// All of it, onto any page.
void write_report(Page& page, const SessionReport& report, const TextOptions& options);

// What a session says without its rows being looked at one by one; `why` tells the reader what is
// left out, and how to see it.
std::string brief_report(const analysis::SessionSummary& summary, std::string_view why,
                         const TextOptions& options = {});

}  // namespace gpufl::report
