// SPDX-License-Identifier: Apache-2.0
#include "workbench/open.hpp"

#include <utility>

#include <fmt/format.h>

#include "analysis/figures/merge_passes.hpp"
#include "analysis/figures/missing.hpp"
#include "symbols/libdw_api.hpp"
#include "text/units.hpp"
#include "workbench/find_sessions.hpp"

namespace gpufl::workbench {
namespace {

namespace fs = std::filesystem;

// What of the session's log is not in what was read; empty: nothing.
std::string damage_of(const analysis::SessionSummary& summary) {
  const analysis::UnreadRows rows = analysis::unread_rows(summary);
  if (rows.unread > 0) {
    return fmt::format("{} of {} rows cannot be read and are missing from it",
                       text::count(rows.unread), text::count(rows.written));
  }
  return summary.has_faults ? "parts of its log cannot be read and are missing from it" : "";
}

}  // namespace

const symbols::LibdwApi* system_libdw() {
  const auto opened = symbols::opened_libdw();
  return opened ? *opened : nullptr;
}

symbols::SymbolizeOptions reading_options(const symbols::LibdwApi* libdw) {
  symbols::SymbolizeOptions options;
  options.libdw = libdw;
  options.sources.enabled = false;
  return options;
}

analysis::LoadOptions load_options(const OpenOptions& options) {
  analysis::LoadOptions how;
  how.threads = options.threads;
  how.window = options.window;
  how.most_rows = options.most_rows;
  if (options.progress) {
    how.progress = [&options](uint64_t done, uint64_t total) {
      return options.progress(Stage::Reading, done, total);
    };
  }
  return how;
}

base::Result<analysis::SessionData> open_session(const fs::path& dir, const OpenOptions& options) {
  const symbols::SymbolizeOptions symbolize = reading_options(options.libdw);
  analysis::LoadOptions how = load_options(options);
  how.symbolize = &symbolize;
  return analysis::load(dir, how);
}

base::Result<analysis::RunData> open_run(const fs::path& folder, const OpenOptions& options) {
  const symbols::SymbolizeOptions symbolize = reading_options(options.libdw);
  analysis::LoadOptions how = load_options(options);
  how.symbolize = &symbolize;
  auto run = analysis::load_run(folder, how);
  // A session that was named itself is meant alone.
  if (run && run->sessions.front().summary.dir != folder) analysis::merge_passes(*run);
  return run;
}

base::Result<OpenedRun> open_one(const fs::path& path, const OpenOptions& options) {
  const std::vector<FoundSession> sessions = find_sessions(path);
  if (sessions.empty()) return no_session(path);
  if (sessions.size() > 1 && !are_one_run(sessions)) {
    return base::Status(base::Code::InvalidArgument,
                        fmt::format("{} contains {} sessions of several runs; name one; the "
                                    "newest is {}",
                                    path.string(), sessions.size(), sessions.back().dir.string()));
  }
  auto data = open_run(path, options);
  if (!data) return data.status();
  OpenedRun run{std::move(*data), {}, true};
  run.is_whole = run.data.problems.empty();
  run.notes = run.data.problems;
  run.notes.insert(run.notes.end(), run.data.copies.begin(), run.data.copies.end());
  for (const analysis::SessionData& session : run.data.sessions) {
    const std::string damage = damage_of(session.summary);
    if (damage.empty()) continue;
    run.notes.push_back(
        fmt::format("{}: {}; `gpufl verify` shows more", session.summary.dir.string(), damage));
    run.is_whole = false;
  }
  return run;
}

}  // namespace gpufl::workbench
