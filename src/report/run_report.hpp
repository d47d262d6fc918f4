// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "analysis/summary.hpp"
#include "report/text_report.hpp"

// All sessions of a run, one line each, and what they come to together: the end of `gpufl trace`,
// and `gpufl report` of a run's folder.
namespace gpufl::report {

// Plain ASCII but for names from the log. Ends with a newline. Any thread.
std::string run_report(std::span<const analysis::SessionSummary> sessions,
                       const TextOptions& options = {});

}  // namespace gpufl::report
