// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/session/session_data.hpp"
#include "base/status.hpp"
#include "symbols/symbolize_session.hpp"

// Sessions and runs brought into memory, which is the caller's; it grows with their rows. Threads
// of its own read, but progress is told to the calling one.
namespace gpufl::workbench {

enum class Stage : uint8_t { Reading, Writing };

// How far a use case is: bytes read, or rows written, a few times a second. False: it stops, and
// fails with Cancelled.
using Progress = std::function<bool(Stage stage, uint64_t done, uint64_t total)>;

struct OpenOptions {
  // To name native frames that have no symbols beside the log; null: they stay modules and offsets.
  const symbols::LibdwApi* libdw = nullptr;
  Progress progress = nullptr;
  std::optional<analysis::Interval> window = std::nullopt;  // only what happened in it; none: all
  uint64_t most_rows = 0;  // of a session with more, about as many of its end; 0: no bound
  unsigned threads = 0;    // that read; 0: as many as the machine has
};

// The system's, opened at run time: for what does not link it, for its licence. Null: there is
// none.
const symbols::LibdwApi* system_libdw();
// For whoever only reads: names of frames, and no source text.
symbols::SymbolizeOptions reading_options(const symbols::LibdwApi* libdw);

// For whoever loads by itself, without names of frames. `options` outlives what is returned.
analysis::LoadOptions load_options(const OpenOptions& options);

// Of one session's folder. Fails as analysis::load does.
base::Result<analysis::SessionData> open_session(const std::filesystem::path& dir,
                                                 const OpenOptions& options);
// Everything at or below `folder`, on one axis of time; of a program that ran in several passes,
// its processes, with the passes of each merged. Fails as analysis::load_run does.
base::Result<analysis::RunData> open_run(const std::filesystem::path& folder,
                                         const OpenOptions& options);

// One session or one run, with what is to be said of it.
struct OpenedRun {
  analysis::RunData data;
  std::vector<std::string> notes;  // sentences: sessions that cannot be read, copies, damage
  bool is_whole = true;            // nothing that was recorded is known to be missing from it
};
// NotFound: there is no session at `path`. InvalidArgument: it holds several that are no one run.
base::Result<OpenedRun> open_one(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace gpufl::workbench
