// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "analysis/code/code_map.hpp"
#include "analysis/summary/summary.hpp"
#include "analysis/tables/tables.hpp"
#include "base/status.hpp"

// A session or a run in memory: the tables, and what summarize() tells of the same log. Loading
// reads every file once, its lines decoded in parallel; memory is proportional to the rows.
namespace gpufl::analysis {

struct SessionData {
  SessionSummary summary;
  Tables tables;
  CodeMap code;
};

struct LoadOptions {
  unsigned threads = 0;  // 0: as many as the machine has
  // Where native frames have no symbols beside the log, how to find them out; null: they stay
  // modules and offsets.
  const symbols::SymbolizeOptions* symbolize = nullptr;
  // Bytes of files read so far and of all; called from the calling thread, a few times a second.
  std::function<void(uint64_t done, uint64_t total)> progress = nullptr;
};

// Fails as SessionReader::open does.
base::Result<SessionData> load(const std::filesystem::path& session_dir,
                               const LoadOptions& options = {});

// All sessions of one launch, on one time axis.
struct RunData {
  std::string id;
  std::vector<SessionData> sessions;  // by rank, then by id
  std::vector<int64_t> offset_ns;     // session time 0 of each after that of the earliest
  std::vector<std::string> problems;  // sessions that could not be read, and why
  std::vector<std::string> copies;    // sentences: those that are there twice, and count once
};

// `path`: a session, or a run's folder. NotFound when there is none that can be read.
base::Result<RunData> load_run(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace gpufl::analysis
