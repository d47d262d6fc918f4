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
// written or was killed, and one without a kernel, is read whole, unless a quick look is enough.
// One thread.
namespace gpufl::workbench {

// A line of the log, which takes a fraction of the memory as it is written.
struct ListedDevice {
  int64_t number = -1;
  std::string vendor, name, uuid;
  std::string line;
};

struct ListedSession {
  FoundSession found;  // of one that cannot be read, the header has its folder's name as id
  // "live", "complete", "not proven", "losses" (as its ledger tells), "damaged", "unclosed",
  // "unreadable"
  std::string state;
  std::string damage;  // which file is missing or cut off
  std::optional<int64_t> duration_ns;
  bool has_end = false;               // else its duration is to its last sign of life
  std::optional<uint64_t> kernels;    // none: not recorded, or not known
  uint64_t bytes = 0;                 // on disk
  std::vector<ListedDevice> devices;  // only a quick look has them

  base::Json to_json() const;
};

// Of one session's folder, for whoever looks again and again: windows are not read whole, so what
// only they tell is not known, and the duration of a session without an end is to its last sealed
// window.
ListedSession look_quickly(const std::filesystem::path& dir);

// All sessions at or below `path`, newest first.
std::vector<ListedSession> list_sessions(const std::filesystem::path& path);

}  // namespace gpufl::workbench
