// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "format/session_header.hpp"

// `gpufl sessions`: what is on disk. Of a session that has ended, its last window alone is read;
// one that is being written or was killed, and one
// without a kernel, is read whole. Main thread only.
namespace gpufl::cli {

void add_sessions_list_command(Command program);

struct ListedSession {
  std::filesystem::path dir;
  format::SessionHeader header;
  // "live", "complete", "not proven", "losses" (as its ledger tells), "damaged", "unclosed",
  // "unreadable"
  std::string state;
  std::string why;     // it is unreadable
  std::string damage;  // which file is missing or cut off
  std::optional<int64_t> duration_ns;
  std::optional<uint64_t> kernels;  // none: not recorded, or not known
  uint64_t bytes = 0;               // on disk
};

// All sessions below `path`, newest first.
std::vector<ListedSession> list_sessions(const std::filesystem::path& path);

}  // namespace gpufl::cli
