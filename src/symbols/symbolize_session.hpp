// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/status.hpp"
#include "format/session_reader.hpp"
#include "symbols/session_frames.hpp"
#include "symbols/source_lines.hpp"
#include "symbols/symbol_file.hpp"
#include "symbols/symbolizer.hpp"

// From a session's native frames to functions, files and lines, after the fact: `gpufl symbolize`,
// `gpufl trace` and shutdown() write them beside the log, `gpufl report` uses them as they are.
// Reads the log and every binary that a frame lies in. One thread per session.
namespace gpufl::symbols {

struct SymbolizeOptions {
  // linked_libdw(), or what opened_libdw() gave; null: no binary is read.
  const LibdwApi* libdw = nullptr;
  std::vector<std::filesystem::path> debug_dirs;
  SourceOptions sources;  // recorded_wall_ns is set from the log
  // When to stop: what is done by then is kept, and the file says that it is not all.
  std::optional<std::chrono::steady_clock::time_point> deadline;
};

struct SymbolizeOutcome {
  uint64_t frames = 0;           // native ones of the log
  uint64_t resolved = 0;         // have a function
  uint64_t with_lines = 0;       // and a line
  SourceLines::Outcome sources;  // its texts are in `symbols`
  SymbolFile symbols;
};

// The names of the frames; what `known` says is kept where it cannot be found out now. Writes
// nothing.
SymbolizeOutcome symbolize(const SessionFrames& frames, const format::SessionHeader& header,
                           const SymbolizeOptions& options, SymbolFile known = {});

// The frames of a session, without symbols.
SessionFrames read_frames(const format::SessionReader& session);

// What lies beside the log; where that is nothing, or not all, what `options` find out now, which
// is not kept. Null: only what lies there.
SymbolFile find_symbols(const format::SessionReader& session, const SessionFrames& frames,
                        const SymbolizeOptions* options);

// Reads the frames of a session (live, killed or sealed), resolves them and replaces its
// symbols.ndjson. A session without native frames and without sources to keep gets none. Fails as
// SessionReader::open does, or when the file cannot be written.
base::Result<SymbolizeOutcome> symbolize_session(const std::filesystem::path& session_dir,
                                                 const SymbolizeOptions& options);

}  // namespace gpufl::symbols
