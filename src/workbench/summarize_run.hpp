// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/summary/summary.hpp"

// The sessions of one run, summarised together: memory does not follow their rows. Reads each
// whole. One thread.
namespace gpufl::workbench {

struct RunSummary {
  std::vector<analysis::SessionSummary> sessions;  // by rank, then by age
  std::vector<std::string> problems;               // sentences: what could not be read
};
RunSummary summarize_run(const std::filesystem::path& folder);

}  // namespace gpufl::workbench
