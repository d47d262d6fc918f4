// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

// What a session's files are at this moment, without reading them: what results are kept for, and
// what says that they have to be made again. Costs a stat() a file. Any thread.
namespace gpufl::server {

struct SessionStamp {
  // Names, sizes and times of all files at or below the folder.
  std::string files;
  // Of the log as it was written: what is sealed counts as before it was compressed, and what was
  // deleted to make room by its rows. Grows with the rows for as long as a session is recorded.
  uint64_t log_bytes = 0;
};

SessionStamp stamp_of(const std::filesystem::path& session);
// Names, sizes and times alone.
std::string files_stamp(const std::filesystem::path& session);

}  // namespace gpufl::server
