// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "format/batch.hpp"

// One pass of rows through the log on one thread: lines to a live file, sealed, read back,
// compared.
namespace gpufl::bench {

struct StageTime {
  double wall_s = 0;
  double cpu_s = 0;  // of this thread
};

struct LogRun {
  uint64_t rows = 0;
  uint64_t raw_bytes = 0;     // of the live files
  uint64_t sealed_bytes = 0;  // of the .zst files
  StageTime write;  // encode every batch, write() it to the live file; a new file every 64 MiB
  StageTime seal;   // seal_window of every file: read, gather or cut, compress, hash, fsync, rename
  StageTime read;   // read_window of every .zst and decode of every line, all checks included
};

// Writes `lines` at the head of each file, then the batches in order, into files in `folder`, and
// removes them. Not ok when anything fails or when one value differs from what was written; the
// comparison is not timed.
base::Result<LogRun> run_log(const std::filesystem::path& folder,
                             const std::vector<std::string>& lines,
                             std::span<const format::Batch> batches);

}  // namespace gpufl::bench
