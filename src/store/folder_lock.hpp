// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "base/status.hpp"

// A folder that one server at a time uses; the system takes the lock back when the process ends,
// however it ends. One thread.
namespace gpufl::store {

class FolderLock {
 public:
  // The folder is made, for its user alone. Unavailable: another server uses it.
  static base::Result<std::unique_ptr<FolderLock>> take(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int fd) : fd_(fd) {}

  const int fd_;
};

// Of a folder that a server uses or has used.
std::filesystem::path catalogue_file(const std::filesystem::path& folder);

}  // namespace gpufl::store
