// SPDX-License-Identifier: Apache-2.0
#include "workbench/summarize_run.hpp"

#include <algorithm>
#include <utility>

#include "analysis/session/session_data.hpp"
#include "format/session_reader.hpp"

namespace gpufl::workbench {

RunSummary summarize_run(const std::filesystem::path& folder, std::optional<int64_t> pass) {
  RunSummary run;
  for (const std::filesystem::path& session : format::find_sessions(folder)) {
    if (pass) {
      const auto reader = format::SessionReader::open(session);
      if (reader && reader->header().pass != pass) continue;
    }
    auto summary = analysis::summarize(session);
    if (summary) {
      run.sessions.push_back(std::move(*summary));
    } else {
      run.problems.push_back(session.string() + ": " + summary.status().message());
    }
  }
  std::sort(run.sessions.begin(), run.sessions.end(), [](const auto& a, const auto& b) {
    return analysis::place_in_run(a.header) < analysis::place_in_run(b.header);
  });
  return run;
}

}  // namespace gpufl::workbench
