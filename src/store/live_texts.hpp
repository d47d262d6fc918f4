// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "format/session_files.hpp"

// The files of windows whose lines arrive as they are written, and the locks by which readers know
// that a session is being recorded. Files are written without a sync until sync() is called for all
// of them. One thread.
namespace gpufl::store {

class LiveTexts {
 public:
  using Clock = std::chrono::steady_clock;

  // How much of the text is there; 0 where there is no file.
  static uint64_t size_of(const std::filesystem::path& file);
  // Whether the file has these bytes there; they are within its length.
  static base::Result<bool> has(const std::filesystem::path& file, uint64_t offset,
                                std::string_view text);
  base::Status cut(const std::filesystem::path& file, uint64_t size);
  uint64_t cuts() const { return cuts_; }  // so far: what was read before the last may not hold
  // Makes the file where it is not there, but not its folder. What fails changes nothing.
  base::Status write(const std::filesystem::path& file, uint64_t offset, std::string_view text);
  // All that was written since the last time outlives a loss of power. After a failure the system
  // may have forgotten what was written: it has to be written again.
  base::Status sync();

  // The session in that folder is being recorded, from now on until nothing is said of it for as
  // long as `patience`, or it has ended.
  void keep_live(const std::filesystem::path& folder);
  void end(const std::filesystem::path& folder) { locks_.erase(folder); }
  bool is_kept_live(const std::filesystem::path& folder) const { return locks_.contains(folder); }
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
  };
  std::set<std::filesystem::path> unsynced_;
  uint64_t cuts_ = 0;
  std::map<std::filesystem::path, Lock> locks_;
};

}  // namespace gpufl::store
