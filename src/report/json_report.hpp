// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.hpp"
#include "report/run_report.hpp"
#include "report/session_report.hpp"

// A report as JSON, for programs: the schema of docs/reference/report-json.md. Every figure of the
// overview at full precision; what is unknown is an object that says why. Any thread.
namespace gpufl::report {

inline constexpr int kJsonReportVersion = 1;

// One line that ends with a newline.
std::string json_report(const SessionReport& report);
std::string json_run_report(const RunReport& report);

}  // namespace gpufl::report
