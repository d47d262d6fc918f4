// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "report/session_report.hpp"

// The parts of a report that GpuFlightSession's inspect_ functions print, each with the reason
// where there is nothing to show. Pure functions.
namespace gpufl::python {

// `name`: "summary", "scopes", "hotspots", "stalls", "profile_samples", "perf_metrics", "syncs",
// "insights". Empty: none of them. Ends with a newline.
std::string inspect(const report::SessionReport& report, std::string_view name,
                    const report::TextOptions& options);

}  // namespace gpufl::python
