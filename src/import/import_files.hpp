// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

// Traces of other tools as sessions: the entry of this room, for `gpufl import`. Reads a file at a
// time; memory follows its rows. One thread; nothing throws but the standard library out of memory.
namespace gpufl::importing {

struct ImportOptions {
  std::vector<std::filesystem::path> files;  // several: of one job, which becomes one run
  std::filesystem::path output;              // a log folder; made where it is not there
  std::string app_name;                      // empty: the file's name
  std::string gpufl_version;
  // What the files are, where they do not say so themselves: one of warpscope_sources(). Empty:
  // they do.
  std::string source;
  // Bytes of `file` read so far and of all; a few times a second or more often.
  std::function<void(const std::filesystem::path& file, uint64_t done, uint64_t total)> progress;
};

struct ImportedSession {
  std::filesystem::path file, dir;
  std::string source;  // "torch_profiler", "nsight_systems", "warpscope"
  int64_t duration_ns = 0;
  std::map<std::string, uint64_t> rows;          // by kind
  std::map<std::string, uint64_t> not_imported;  // what has no place in a session
  uint64_t impossible_times = 0;
  std::string truncated;  // why the trace ends early; empty: it does not
};

struct ImportOutcome {
  std::filesystem::path run;  // the folder of several sessions; empty: there is one at most
  std::vector<ImportedSession> sessions;
  std::vector<std::string> errors;    // "FILE: why not, and what to do"
  std::vector<std::string> warnings;  // about ranks that do not fit together
};

ImportOutcome import_files(const ImportOptions& options);

}  // namespace gpufl::importing
