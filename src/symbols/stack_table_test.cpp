// SPDX-License-Identifier: Apache-2.0
#include "symbols/stack_table.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>
#include <vector>

namespace gpufl::symbols {
namespace {

StackTable& table() { return StackTable::instance(); }

[[gnu::noinline]] uint32_t record_below(int depth) {
  const uint32_t id = depth == 0 ? table().record() : record_below(depth - 1);
  asm volatile("" ::: "memory");
  return id;
}

TEST(StackTableTest, KeepsAStackOnceAndSaysWhereItsFramesLie) {
  std::vector<uint32_t> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(record_below(4));
  EXPECT_NE(ids[0], 0u);
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_EQ(ids[0], ids[2]);
  EXPECT_NE(record_below(5), ids[0]);

  const std::vector<StackFrame> frames = table().frames(ids[0]);
  ASSERT_GE(frames.size(), 8u);
  char self[4096];
  const ssize_t size = readlink("/proc/self/exe", self, sizeof(self));
  ASSERT_GT(size, 0);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(frames[i].module, std::string(self, static_cast<size_t>(size)));
    EXPECT_TRUE(frames[i].is_program);
    EXPECT_TRUE(frames[i].holds_gpufl);
    EXPECT_FALSE(frames[i].is_python());
    EXPECT_GT(frames[i].module_bytes, frames[i].offset);
  }
  Dl_info info;
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&record_below), &info), 0);
  const uint64_t begin =
      reinterpret_cast<uintptr_t>(&record_below) - reinterpret_cast<uintptr_t>(info.dli_fbase);
  EXPECT_GT(frames[1].offset, begin);
  EXPECT_LT(frames[1].offset, begin + 200);
  EXPECT_TRUE(table().frames(0).empty());
}

TEST(StackTableTest, MarksWhatWasCut) {
  const std::vector<StackFrame> frames = table().frames(record_below(400));
  ASSERT_EQ(frames.size(), 256u);
  EXPECT_EQ(frames.back().function, "<cut>");
  EXPECT_TRUE(frames.back().module.empty());
}

TEST(StackTableTest, LeavesErrnoAlone) {
  std::thread([] {
    errno = 77;
    record_below(3);
    EXPECT_EQ(errno, 77);
  }).join();
}

TEST(StackTableTest, ServesManyThreads) {
  constexpr int kThreads = 4, kRounds = 2'000;
  std::vector<std::vector<uint32_t>> ids(kThreads, std::vector<uint32_t>(20));
  std::vector<std::thread> threads;
  for (auto& mine : ids) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < kRounds; ++i) mine[static_cast<size_t>(i % 20)] = record_below(i % 20);
    });
  }
  for (int i = 0; i < 20; ++i) table().refresh();
  for (std::thread& thread : threads) thread.join();
  for (const auto& other : ids) EXPECT_EQ(other, ids[0]);
  EXPECT_EQ(table().dropped(), 0u);
}

// A library of stack_fixture/replaced.cpp, loaded.
class Replaced {
 public:
  explicit Replaced(const char* name)
      : handle_(dlopen((std::string(GPUFL_STACK_FIXTURES) + "/" + name).c_str(), RTLD_NOW)) {}
  ~Replaced() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  uint32_t record_below_it() const {
    using CallThrough = void (*)(void (*)(void*), void*);
    const auto call = reinterpret_cast<CallThrough>(dlsym(handle_, "call_through"));
    uint32_t id = 0;
    call([](void* data) { *static_cast<uint32_t*>(data) = record_below(1); }, &id);
    return id;
  }

 private:
  void* handle_;
};

// Of the replaced library that the stack goes through.
std::string build_id_of_replaced(const std::vector<StackFrame>& frames) {
  for (const StackFrame& frame : frames) {
    if (frame.module.find("libreplaced_") != std::string::npos) return frame.build_id;
  }
  return "";
}

TEST(StackTableTest, TellsALibraryFromTheOneThatReplacedIt) {
  size_t depth = 0;
  uint32_t small_id = 0, large_id = 0;
  // Over and over, at the same addresses: the loader maps where there is room first.
  for (int i = 0; i < 10; ++i) {
    {
      const Replaced small("libreplaced_small.so");
      small_id = small.record_below_it();
      const std::vector<StackFrame> frames = table().frames(small_id);
      if (i == 0) depth = frames.size();
      EXPECT_EQ(frames.size(), depth);
      EXPECT_EQ(build_id_of_replaced(frames), "0123456789abcdef");
    }
    table().refresh();
    {
      const Replaced large("libreplaced_large.so");
      large_id = large.record_below_it();
      const std::vector<StackFrame> frames = table().frames(large_id);
      EXPECT_EQ(frames.size(), depth);
      EXPECT_EQ(build_id_of_replaced(frames), "fedcba9876543210");
    }
    table().refresh();
    // Both are gone; their stacks still say what they were.
    EXPECT_EQ(build_id_of_replaced(table().frames(small_id)), "0123456789abcdef");
    EXPECT_EQ(build_id_of_replaced(table().frames(large_id)), "fedcba9876543210");
  }
}

TEST(StackTableTest, WorksInAChildOfFork) {
  const uint32_t before = record_below(2);
  const pid_t child = fork();
  if (child == 0) {
    table().refresh();
    const bool ok = record_below(7) != 0 && table().frames(before).size() > 3;
    _exit(ok ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(StackTableTest, HasNoLimitationsHere) { EXPECT_TRUE(table().limitations().empty()); }

}  // namespace
}  // namespace gpufl::symbols
