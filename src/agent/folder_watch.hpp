// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>

// Waits until something happens in folders, or a while. Where the system cannot watch them, or not
// so many, it is the while. One thread.
namespace gpufl::agent {

class FolderWatch {
 public:
  static constexpr size_t kMostFolders = 4096;

  explicit FolderWatch(size_t most_folders = kMostFolders);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // False: it cannot be watched. What is new in a folder with `has_sessions` is told by has_news().
  bool add(const std::filesystem::path& folder, bool has_sessions);
  void remove(const std::filesystem::path& folder);
  size_t size() const { return folders_.size(); }
  // False: it was stopped.
  bool wait(std::chrono::milliseconds at_most, const std::function<bool()>& is_stopped);
  // Whether something has come into a folder of sessions since it was asked last; a folder that
  // came is watched like the one it is in.
  bool has_news();

 private:
  struct Watched {
    std::filesystem::path folder;
    bool has_sessions = false;
  };

  bool take_events();
  void forget(int watch);

  const int fd_;
  const size_t most_folders_;
  std::map<std::filesystem::path, int> folders_;
  std::map<int, Watched> watches_;
  bool has_news_ = false;
};

}  // namespace gpufl::agent
