// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
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
// `pass`: only those of this pass; none: all.
RunSummary summarize_run(const std::filesystem::path& folder,
                         std::optional<int64_t> pass = std::nullopt);

}  // namespace gpufl::workbench
