// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "workbench/find_sessions.hpp"

// What is on disk. Of a session that has ended, its last window alone is read; one that is being
// written or was killed, and one without a kernel, is read whole. One thread.
namespace gpufl::workbench {

struct ListedSession {
  FoundSession found;  // of one that cannot be read, the header has its folder's name as id
  // "live", "complete", "not proven", "losses" (as its ledger tells), "damaged", "unclosed",
  // "unreadable"
  std::string state;
  std::string damage;  // which file is missing or cut off
  std::optional<int64_t> duration_ns;
  bool has_end = false;             // else its duration is to its last sign of life
  std::optional<uint64_t> kernels;  // none: not recorded, or not known
  uint64_t bytes = 0;               // on disk

  base::Json to_json() const;
};

// All sessions at or below `path`, newest first.
std::vector<ListedSession> list_sessions(const std::filesystem::path& path);

}  // namespace gpufl::workbench
