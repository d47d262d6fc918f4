// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

// Deletes recorded sessions: for `gpufl clean`, and to make room for the next session of a service
// that is started again and again. Only called when a user has asked for it. Never leaves `folder`
// through a link, and deletes no file that is not one of a session's own.
namespace gpufl::workbench {

struct Cleanup {
  std::vector<std::filesystem::path> deleted;
  // Their log is deleted; the folder stays, because there is something else in it.
  std::vector<std::filesystem::path> emptied;
  // Chosen, but left alone, by delete_sessions.
  std::vector<std::filesystem::path> kept;
  uint64_t bytes = 0;  // of what was deleted
};

// Which of the sessions under a folder to delete: those that every member allows.
struct CleanupChoice {
  std::optional<int64_t> began_before_ns = {};  // of the wall clock
  uint64_t keep = 0;                            // the newest; sessions of one run count as one
  std::optional<std::vector<std::filesystem::path>> only = {};  // these folders
};

// Deletes the chosen sessions under `folder`, and every start that died before its first line was
// written. Keeps those that are still recorded, that cannot be read, or that could not be deleted.
// A run's folder goes with its last session. `dry_run`: deletes nothing, and says what it would.
Cleanup delete_sessions(const std::filesystem::path& folder, bool dry_run,
                        const CleanupChoice& choice = {});

// Deletes the oldest sessions of that name under `folder` until the others take no more than
// `keep_bytes`; and every start that died before its first line was written, whatever its name. A
// session that is still recorded, or otherwise cannot be read, is left alone.
Cleanup delete_old_sessions(const std::filesystem::path& folder, std::string_view name,
                            uint64_t keep_bytes);

}  // namespace gpufl::workbench
