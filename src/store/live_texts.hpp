// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "format/session_files.hpp"

// The files of windows whose lines arrive as they are written, and the locks by which readers know
// that a session is being recorded. Files are written without a sync; they are settled later, one
// session after the other, or all at once. One thread, but for what is static.
namespace gpufl::store {

class LiveTexts {
 public:
  using Clock = std::chrono::steady_clock;
  using Sessions = std::map<std::filesystem::path, std::set<std::filesystem::path>>;
  using Unsynced = Sessions::value_type;  // a session's folder, and files in it

  // How much of the text is there; 0 where there is no file.
  static uint64_t size_of(const std::filesystem::path& file);
  // Whether the file has these bytes there; they are within its length.
  static base::Result<bool> has(const std::filesystem::path& file, uint64_t offset,
                                std::string_view text);
  base::Status cut(const std::filesystem::path& file, uint64_t size);
  uint64_t cuts() const { return cuts_; }  // so far: what was read before the last may not hold
  // Makes the file where it is not there, but not its folder. What fails changes nothing.
  base::Status write(const std::filesystem::path& file, uint64_t offset, std::string_view text);

  // What was written until now is to be synced, beside what is left of the last time. Returns how
  // many sessions that is.
  size_t begin_settling();
  std::optional<Unsynced> next_to_settle() const;
  size_t left_to_settle() const { return settling_.size(); }
  // The session's files have been synced.
  void settle(const std::filesystem::path& folder) { settling_.erase(folder); }
  // These outlive a loss of power. After a failure the system may have forgotten what was written:
  // it has to be written again. Of files that are gone nothing is said.
  static base::Status sync(const Unsynced& session);
  base::Status sync_all();
  base::Status sync_folder_of(const std::filesystem::path& folder);

  // The session in that folder is being recorded, from now on until nothing is said of it for as
  // long as `patience`, or it has ended. Nothing that is known to have ended is kept live.
  void keep_live(const std::filesystem::path& folder);
  void end(const std::filesystem::path& folder);
  // Nothing of it was ever said.
  void forget(const std::filesystem::path& folder) { locks_.erase(folder); }
  bool is_kept_live(const std::filesystem::path& folder) const;
  void end_idle(std::chrono::milliseconds patience);

 private:
  struct Lock {
    Lock() = default;
    ~Lock() {
      if (lock) lock->release();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    std::unique_ptr<format::SessionLock> lock;
    Clock::time_point used;
    bool has_ended = false;
  };
  Sessions unsynced_, settling_;
  uint64_t cuts_ = 0;
  std::map<std::filesystem::path, Lock> locks_;
};

}  // namespace gpufl::store
