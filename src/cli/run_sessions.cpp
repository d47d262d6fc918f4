// SPDX-License-Identifier: Apache-2.0
#include "cli/run_sessions.hpp"

#include <algorithm>
#include <tuple>

#include "format/session_reader.hpp"

namespace gpufl::cli {

namespace fs = std::filesystem;

RunSessions summarize_run(const fs::path& folder) {
  RunSessions run;
  for (const fs::path& session : format::find_sessions(folder)) {
    auto summary = analysis::summarize(session);
    if (summary) {
      run.sessions.push_back(std::move(*summary));
    } else {
      run.problems.push_back(session.string() + ": " + summary.status().message());
    }
  }
  std::sort(run.sessions.begin(), run.sessions.end(), [](const auto& a, const auto& b) {
    return std::tie(a.header.rank, a.header.session_id) <
           std::tie(b.header.rank, b.header.session_id);
  });
  return run;
}

bool are_one_run(const std::vector<fs::path>& sessions) {
  if (sessions.size() < 2) return false;
  std::string run_id;
  for (const fs::path& session : sessions) {
    const auto reader = format::SessionReader::open(session);
    if (!reader) continue;
    const std::string& its = reader->header().run_id;
    if (!run_id.empty() && its != run_id) return false;
    run_id = its;
  }
  return !run_id.empty();
}

}  // namespace gpufl::cli
