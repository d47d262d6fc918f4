// SPDX-License-Identifier: Apache-2.0
#include "base/own_threads.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gpufl::base {
namespace {

constexpr size_t kMaxThreads = 64;
// Process and thread; those of another process are left over from before a fork.
std::atomic<uint64_t> g_threads[kMaxThreads];

uint64_t entry_of(pid_t thread) {
  return static_cast<uint64_t>(getpid()) << 32 | static_cast<uint32_t>(thread);
}

bool is_of_this_process(uint64_t entry) { return entry >> 32 == static_cast<uint64_t>(getpid()); }

bool is_own(pid_t thread) {
  return std::any_of(std::begin(g_threads), std::end(g_threads),
                     [entry = entry_of(thread)](const auto& place) { return place == entry; });
}

// A main thread that has left stays as a zombie while others run.
bool has_main_thread_ended() {
  char text[512];
  // The process's own `stat` would sum up all of its threads.
  std::snprintf(text, sizeof text, "/proc/self/task/%d/stat", getpid());
  const int fd = ::open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (size <= 0) return false;
  text[size] = '\0';
  const char* const name_end = std::strrchr(text, ')');
  return name_end != nullptr && std::strncmp(name_end, ") Z", 3) == 0;
}

}  // namespace

OwnThread::OwnThread() {
  for (auto& place : g_threads) {
    uint64_t held = place.load();
    if (held != 0 && is_of_this_process(held)) continue;
    if (place.compare_exchange_strong(held, entry_of(gettid()))) {
      place_ = &place;
      return;
    }
  }
}

OwnThread::~OwnThread() {
  if (place_ != nullptr) place_->store(0);
}

bool are_only_own_threads_left() {
  if (!has_main_thread_ended()) return false;
  DIR* const tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr) return false;
  bool is_any_own = false, is_any_other = false;
  while (const dirent* const task = ::readdir(tasks)) {
    const auto thread = static_cast<pid_t>(std::strtol(task->d_name, nullptr, 10));
    if (thread == 0 || thread == getpid()) continue;
    (is_own(thread) ? is_any_own : is_any_other) = true;
  }
  ::closedir(tasks);
  return is_any_own && !is_any_other;
}

}  // namespace gpufl::base
