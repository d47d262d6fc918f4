// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>

// What a program that will be killed has done so far, in memory that outlives it: when each of its
// scopes had ended. Written by the program's threads, read by who killed it.
namespace gpufl::bench {

struct ProgressPage {
  static constexpr int kThreads = 3;
  static constexpr int64_t kMaxScopes = 200'000;

  struct Thread {
    std::atomic<int64_t> ended;
    int64_t end_ns[kMaxScopes];  // monotonic clock, read after the scope's end
  };
  Thread threads[kThreads];

  // Null when the file cannot be mapped. Never unmapped: both programs are short.
  static ProgressPage* map(const std::string& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(ProgressPage)) != 0) return nullptr;
    void* memory = mmap(nullptr, sizeof(ProgressPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return memory != MAP_FAILED ? static_cast<ProgressPage*>(memory) : nullptr;
  }
};

}  // namespace gpufl::bench
