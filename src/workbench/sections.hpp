// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "report/session_report.hpp"

// Parts of a report for whoever asks for one of them, as the inspect_ functions of the Python
// package do: each with the reason where there is nothing to show. Pure functions.
namespace gpufl::workbench {

// `name`: "summary", "scopes", "hotspots", "stalls", "profile_samples", "perf_metrics", "syncs",
// "insights". NotFound: none of them, and the sentence lists them. Ends with a newline.
base::Result<std::string> write_section(const report::SessionReport& report, std::string_view name,
                                        const report::TextOptions& options);

}  // namespace gpufl::workbench
