// SPDX-License-Identifier: Apache-2.0
#include "agent/folder_watch.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace gpufl::agent {
namespace {

constexpr std::chrono::milliseconds kSlice{100};  // between two looks at is_stopped

}  // namespace

FolderWatch::FolderWatch(size_t most_folders)
    : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)), most_folders_(most_folders) {}

FolderWatch::~FolderWatch() {
  if (fd_ >= 0) ::close(fd_);
}

bool FolderWatch::add(const std::filesystem::path& folder, bool has_sessions) {
  if (const auto found = folders_.find(folder); found != folders_.end()) {
    watches_[found->second].has_sessions = has_sessions;
    return true;
  }
  if (fd_ < 0 || folders_.size() >= most_folders_) return false;
  const uint32_t events =
      IN_MODIFY | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW;
  const int watch = ::inotify_add_watch(fd_, folder.c_str(), events);
  if (watch < 0) return false;
  // Of the same folder by another name there is one watch.
  forget(watch);
  folders_[folder] = watch;
  watches_[watch] = {folder, has_sessions};
  return true;
}

void FolderWatch::forget(int watch) {
  const auto found = watches_.find(watch);
  if (found == watches_.end()) return;
  folders_.erase(found->second.folder);
  watches_.erase(found);
}

void FolderWatch::remove(const std::filesystem::path& folder) {
  const auto found = folders_.find(folder);
  if (found == folders_.end()) return;
  ::inotify_rm_watch(fd_, found->second);
  forget(found->second);
}

bool FolderWatch::has_news() {
  take_events();
  return std::exchange(has_news_, false);
}

bool FolderWatch::take_events() {
  bool has_some = false;
  alignas(inotify_event) std::array<char, 4096> events;
  for (ssize_t got = 0; (got = ::read(fd_, events.data(), events.size())) > 0;) {
    has_some = true;
    inotify_event event{};
    for (size_t at = 0; at + sizeof(event) <= static_cast<size_t>(got);
         at += sizeof(event) + event.len) {
      std::memcpy(&event, events.data() + at, sizeof(event));
      if ((event.mask & IN_Q_OVERFLOW) != 0) has_news_ = true;
      const auto watched = watches_.find(event.wd);
      if (watched == watches_.end()) continue;
      if ((event.mask & (IN_IGNORED | IN_MOVE_SELF)) != 0) {
        if ((event.mask & IN_MOVE_SELF) != 0) ::inotify_rm_watch(fd_, event.wd);
        forget(event.wd);
        has_news_ = true;
        continue;
      }
      if (!watched->second.has_sessions || (event.mask & (IN_CREATE | IN_MOVED_TO)) == 0) continue;
      has_news_ = true;
      if ((event.mask & IN_ISDIR) != 0 && event.len > 0) {
        const char* const name = events.data() + at + sizeof(event);
        const std::filesystem::path folder = watched->second.folder / name;
        add(folder, true);
      }
    }
  }
  return has_some;
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
    if (take_events()) return true;
  }
}

}  // namespace gpufl::agent
