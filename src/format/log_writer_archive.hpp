// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/status.hpp"
#include "format/append_file.hpp"
#include "format/manifest.hpp"
#include "format/schema.hpp"

// The closed windows of a session that is being written: sealed one after the other on a thread of
// its own (started with the first window), listed in the manifest, deleted when they must go. All
// calls but the destructor from any thread.
namespace gpufl::format {

struct ClosedWindow {
  Channel channel = Channel::System;
  uint64_t number = 0;
  int64_t closed_ns = 0;  // session time; nothing inside is newer
  uint64_t bytes = 0;     // on disk now
  uint64_t rows = 0;      // of batches
  uint64_t pauses = 0;    // `log_paused` events inside
};

struct ArchiveCounts {
  uint64_t windows_sealed = 0, sealed_bytes = 0, windows_deleted = 0, rows_deleted = 0;
};

class LogArchive {
 public:
  // Makes the manifest; it begins with `session_line`. It is rewritten in a shorter form when what
  // it says of deleted windows has grown by `manifest_slack` bytes.
  static base::Result<std::unique_ptr<LogArchive>> create(const std::filesystem::path& dir,
                                                          std::string_view session_line,
                                                          uint64_t manifest_slack);
  ~LogArchive();

  // Takes over the raw file of a window, already under its final name. reserve() comes first: it
  // may throw for want of memory, add() does not.
  void reserve();
  void add(const ClosedWindow& window);
  // Bytes of the manifest and of every window that is on disk.
  uint64_t bytes() const;
  // Windows of the code channel stay: rows of all times refer to them.
  void delete_older_than(int64_t session_ns);
  // False when there is none that could go.
  bool delete_oldest();
  ArchiveCounts counts() const;

  // Waits until everything is sealed, trying once more what failed, and ends the thread. The first
  // error; the windows it concerns stay raw, which is a readable state.
  base::Status finish();
  // After fork(), in the child: closes the manifest there. Never destroy it afterwards; the thread
  // and its locks are in whatever state they had in the parent.
  void abandon();

 private:
  struct Entry {
    ClosedWindow window;
    enum class State : uint8_t {
      Waiting,
      Sealing,
      Sealed,
      Failed,
      Deleted,  // while it was being sealed
    } state = State::Waiting;
    int attempts = 0;
  };
  using Entries = std::list<Entry>;

  LogArchive(std::filesystem::path dir, std::string_view session_line, uint64_t manifest_slack)
      : dir_(std::move(dir)), session_line_(session_line), manifest_slack_(manifest_slack) {}
  void start_thread();
  void run();
  void seal(std::unique_lock<std::mutex>& lock, Entries::iterator entry);
  void try_seal(std::unique_lock<std::mutex>& lock, Entries::iterator entry);
  void compact_manifest();
  void delete_entry(Entries::iterator entry, std::string_view reason);
  static bool is_deletable(const Entry& entry);

  const std::filesystem::path dir_;
  const std::string session_line_;
  const uint64_t manifest_slack_;
  uint64_t compact_at_ = 0;  // size of the manifest
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Entries entries_;  // in order of closing
  Entries spare_;    // one at most, for add()
  AppendFile manifest_;
  ArchiveCounts counts_;
  uint64_t window_bytes_ = 0;
  base::Status first_error_;
  bool finishing_ = false;
  std::thread thread_;
};

}  // namespace gpufl::format
