// SPDX-License-Identifier: Apache-2.0
#include "agent/folder_watch.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace gpufl::agent {
namespace {

constexpr std::chrono::milliseconds kSlice{100};  // between two looks at is_stopped
constexpr size_t kMostFolders = 4096;             // later ones are looked at in time

}  // namespace

FolderWatch::FolderWatch() : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

FolderWatch::~FolderWatch() {
  if (fd_ >= 0) ::close(fd_);
}

void FolderWatch::add(const std::filesystem::path& folder) {
  if (fd_ < 0 || watched_.size() >= kMostFolders || watched_.contains(folder)) return;
  const uint32_t events = IN_MODIFY | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_ONLYDIR;
  if (::inotify_add_watch(fd_, folder.c_str(), events) >= 0) watched_.insert(folder);
}

bool FolderWatch::wait(std::chrono::milliseconds at_most, const std::function<bool()>& is_stopped) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + at_most;
  while (true) {
    if (is_stopped()) return false;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) return true;
    pollfd source{fd_, POLLIN, 0};
    if (::poll(&source, 1, static_cast<int>(std::min(left, kSlice).count())) <= 0) continue;
    std::array<char, 4096> events;
    while (::read(fd_, events.data(), events.size()) > 0) {
    }
    return true;
  }
}

}  // namespace gpufl::agent
