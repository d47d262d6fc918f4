// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"

// The user's cache: everything that the server writes. Results may be deleted at any time and are
// made again; notes are the user's own. Names of files are hashes, so that no id can lead out of
// the folder, and nothing that is called otherwise is deleted. Several servers may share one: files
// are there whole or not at all. Any thread.
namespace gpufl::server {

// Of what is kept for the next time, unless it is in use.
inline constexpr uint64_t kMostIndexBytes = uint64_t{4} << 30;
inline constexpr uint64_t kMostImportBytes = uint64_t{8} << 30;

// $XDG_CACHE_HOME/gpufl, or ~/.cache/gpufl. NotFound: neither variable is set.
base::Result<std::filesystem::path> default_cache();

class CacheFolder {
 public:
  // Made where it does not exist, for its user alone (0700). Fails where it is somebody else's.
  static base::Result<CacheFolder> open(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return folder_; }
  // A folder for what another room keeps, made where it does not exist.
  std::filesystem::path subfolder(std::string_view name) const;

  // Where the result about a subject is, or will be.
  std::filesystem::path result_file(std::string_view subject) const;
  // An empty file beside the results, open for writing, its name in `path`.
  base::Result<int> make_temporary(std::filesystem::path& path) const;
  // Deletes what servers that were killed left unfinished, once it is a day old.
  void sweep() const;
  // Deletes the results that were longest not asked for, until the others take no more than that.
  void prune(uint64_t keep_bytes) const;

  // Of a session: an object. Null: none was kept.
  base::Json read_notes(std::string_view session_id) const;
  base::Status write_notes(std::string_view session_id, const base::Json& notes) const;
  void remove_notes(std::string_view session_id) const;
  // Of no other sessions.
  void keep_notes_of(const std::vector<std::string>& session_ids) const;

 private:
  explicit CacheFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;
};

// A folder of the cache that is in use, by this process or another: prune_folders() leaves it
// alone, and knows later when that was.
class FolderUse {
 public:
  // Nothing: there is no such folder, or no way to say so.
  static std::optional<FolderUse> take(const std::filesystem::path& folder);
  ~FolderUse();
  FolderUse(FolderUse&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderUse& operator=(FolderUse&&) = delete;

 private:
  explicit FolderUse(int fd) : fd_(fd) {}

  int fd_;
};

// Deletes the folders in `parent` that were longest not used, until all of them take no more than
// that on the disk. Only those that are called as name_hash() does, and none that is in use.
void prune_folders(const std::filesystem::path& parent, uint64_t keep_bytes);

// 32 hex digits: for names of files. Not a secret's hash.
std::string name_hash(std::string_view text);
// A file as a whole; nothing: it does not exist, cannot be read or is larger.
std::optional<std::string> read_small_file(const std::filesystem::path& file, size_t most_bytes);
// Writes all of it; an errno or 0.
int write_all(int fd, std::string_view text);

}  // namespace gpufl::server
