// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/summary/summary.hpp"

// The sessions of one run, summarised together. Reads each whole. One thread.
namespace gpufl::cli {

struct RunSessions {
  std::vector<analysis::SessionSummary> sessions;  // by rank, then by age
  std::vector<std::string> problems;               // sentences: what could not be read
};
RunSessions summarize_run(const std::filesystem::path& folder);

// Whether these are several sessions, all of one run.
bool are_one_run(const std::vector<std::filesystem::path>& sessions);

}  // namespace gpufl::cli
