// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"

// A folder whose files are read for somebody who may not be its owner: only regular files, and no
// link is followed below it, so that no name in it leads anywhere else. Any thread.
namespace gpufl::agent {

// By which a file is known to hold what it held before.
struct FileStamp {
  uint64_t inode = 0, size = 0;
  int64_t changed_ns = 0;

  bool operator==(const FileStamp&) const = default;
};

// An open file. It stays the same file whatever happens to its name.
class OpenFile {
 public:
  explicit OpenFile(int fd) : fd_(fd) {}
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;

  // By which this process can open it again.
  std::filesystem::path path() const;
  uint64_t size() const;
  FileStamp stamp() const;
  // Fills all of `into`; Corrupt where the file has got shorter.
  base::Status read(uint64_t offset, std::span<char> into) const;
  // 64 hexadecimal digits, of the first `bytes`.
  base::Result<std::string> sha256(uint64_t bytes) const;

 private:
  int fd_;
};

class Folder {
 public:
  // `path` itself may be a link: whoever named it means what it leads to.
  static base::Result<Folder> open(const std::filesystem::path& path);
  ~Folder();
  Folder(Folder&& other) noexcept;
  Folder& operator=(Folder&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }
  // NotFound, or PermissionDenied for what is no folder, no regular file or a link. `name` has no
  // slash.
  base::Result<Folder> open_folder(const std::string& name) const;
  base::Result<OpenFile> open_file(const std::string& name) const;
  // Of everything in it, sorted; all or none.
  base::Result<std::vector<std::string>> names() const;
  // Of the folder itself: another one when a name has come or gone.
  FileStamp stamp() const;

 private:
  Folder(int fd, std::filesystem::path path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::filesystem::path path_;
};

}  // namespace gpufl::agent
