// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>

// Waits until something happens in folders, or a while. Where the system cannot watch them, or not
// so many, it is the while. One thread.
namespace gpufl::agent {

class FolderWatch {
 public:
  FolderWatch();
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  void add(const std::filesystem::path& folder);
  // False: it was stopped.
  bool wait(std::chrono::milliseconds at_most, const std::function<bool()>& is_stopped);

 private:
  const int fd_;
  std::set<std::filesystem::path> watched_;
};

}  // namespace gpufl::agent
