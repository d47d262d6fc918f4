// SPDX-License-Identifier: Apache-2.0
#include "base/own_threads.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace gpufl::base {
namespace {

using namespace std::chrono_literals;

TEST(OwnThreads, AreNotAloneWhileTheMainThreadLives) {
  std::thread([] {
    const OwnThread own;
    EXPECT_FALSE(are_only_own_threads_left());
  }).join();
}

constexpr int kAlone = 3, kNotAlone = 4, kTooEarly = 5;

// In a child whose main thread has left: a thread of ours and one that is not, which ends when it
// is told to.
TEST(OwnThreads, AreAloneWhenTheLastOtherHasEnded) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer has a thread of its own";
#endif
  const pid_t child = fork();
  if (child == 0) {
    static std::atomic<bool> may_end = false;
    std::thread([] {
      while (!may_end) std::this_thread::sleep_for(1ms);
    }).detach();
    std::thread([main = pthread_self()] {
      const OwnThread own;
      pthread_join(main, nullptr);
      std::this_thread::sleep_for(20ms);
      if (are_only_own_threads_left()) _exit(kTooEarly);
      may_end = true;
      for (int i = 0; i < 20'000; ++i) {
        if (are_only_own_threads_left()) _exit(kAlone);
        std::this_thread::sleep_for(1ms);
      }
      _exit(kNotAlone);
    }).detach();
    syscall(SYS_exit, 0);  // pthread_exit, without the unwinding that the test framework catches
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), kAlone);
}

}  // namespace
}  // namespace gpufl::base
