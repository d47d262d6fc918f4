// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/descriptor.hpp"

// A file that only grows, by whole groups of lines: a group is in it completely or not at all.
// A program that closes our descriptor loses nothing, and gets nothing of ours into its own files.
// One thread. Errors are errno values, because what to do depends on which one it is.
namespace gpufl::format {

class AppendFile {
 public:
  AppendFile() = default;
  ~AppendFile() { close(); }
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  // Makes the file, which must not exist.
  int open_new(const std::filesystem::path& path);
  // One write() where the system takes it at once. After an error the file is as long as before,
  // unless even that was refused: then torn() and nothing more should be appended.
  int append(std::string_view lines);
  int sync();
  void close();
  void renamed(const std::filesystem::path& path) { path_ = path; }
  void swap(AppendFile& other) noexcept;

  bool is_open() const { return fd_ >= 0; }
  bool is_torn() const { return torn_; }
  uint64_t size() const { return size_; }

 private:
  int find_descriptor();

  std::filesystem::path path_;
  int fd_ = -1;
  base::DescriptorIdentity identity_;
  uint64_t size_ = 0;
  bool torn_ = false;
};

}  // namespace gpufl::format
