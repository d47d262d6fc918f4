// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

// Which threads of this process are ours. The C library ends a process when its last thread ends:
// a program whose main thread left by pthread_exit would never end, because of us. Any thread;
// takes no lock and no memory, so that it may be used after a fork.
namespace gpufl::base {

// On a thread of ours, for as long as it has work.
class OwnThread {
 public:
  OwnThread();
  ~OwnThread();
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

 private:
  std::atomic<uint64_t>* place_ = nullptr;  // null: there was none left
};

// Whether the main thread has ended and all others are OwnThreads: then nothing will ever run but
// those. A few microseconds. In doubt false.
bool are_only_own_threads_left();

}  // namespace gpufl::base
