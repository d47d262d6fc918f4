// SPDX-License-Identifier: Apache-2.0
#include "symbols/stack_store.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "symbols/unwind_cache.hpp"

namespace gpufl::symbols {
namespace {

using Words = std::vector<uint64_t>;

Words kept(const StackStore& store, uint32_t id) {
  const auto words = store.get(id).words;
  return {words.begin(), words.end()};
}

TEST(StackStoreTest, KeepsAStackOnce) {
  StackStore store(8, 1'000);
  const uint32_t first = store.intern(Words{1, 2, 3}, 0);
  const uint32_t second = store.intern(Words{1, 2, 4}, 0);
  EXPECT_NE(first, 0u);
  EXPECT_NE(first, second);
  EXPECT_EQ(store.intern(Words{1, 2, 3}, 0), first);
  EXPECT_EQ(kept(store, first), (Words{1, 2, 3}));
  EXPECT_EQ(kept(store, second), (Words{1, 2, 4}));
  EXPECT_TRUE(kept(store, 0).empty());
  EXPECT_TRUE(kept(store, 200).empty());
  EXPECT_TRUE(kept(store, 1 << 30).empty());
}

TEST(StackStoreTest, TellsGenerationsApart) {
  StackStore store(8, 1'000);
  const uint32_t before = store.intern(Words{1, 2, 3}, 0);
  const uint32_t after = store.intern(Words{1, 2, 3}, 1);
  EXPECT_NE(before, after);
  EXPECT_EQ(store.get(before).generation, 0u);
  EXPECT_EQ(store.get(after).generation, 1u);
}

TEST(StackStoreTest, CountsWhatFindsNoRoom) {
  StackStore few_ids(2, 1'000);
  for (uint64_t i = 0; i < 10; ++i) few_ids.intern(Words{i}, 0);
  EXPECT_EQ(few_ids.dropped(), 7u);
  EXPECT_NE(few_ids.intern(Words{2}, 0), 0u);  // still known
  EXPECT_EQ(few_ids.dropped(), 7u);

  StackStore few_words(8, 10);
  EXPECT_NE(few_words.intern(Words{1, 2, 3, 4, 5, 6}, 0), 0u);
  EXPECT_EQ(few_words.intern(Words{7, 8, 9, 10, 11, 12}, 0), 0u);
  EXPECT_EQ(few_words.dropped(), 1u);
}

TEST(StackStoreTest, GivesManyThreadsTheSameIds) {
  StackStore store(12, 100'000);
  constexpr int kThreads = 4, kStacks = 1'000;
  std::vector<std::vector<uint32_t>> ids(kThreads, std::vector<uint32_t>(kStacks));
  std::vector<std::thread> threads;
  for (auto& mine : ids) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < kStacks; ++i) mine[i] = store.intern(Words{i, i * i, 3}, 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& other : ids) EXPECT_EQ(other, ids[0]);
  EXPECT_EQ(std::set(ids[0].begin(), ids[0].end()).size(), size_t{kStacks});
  for (uint64_t i = 0; i < kStacks; ++i) ASSERT_EQ(kept(store, ids[0][i]), (Words{i, i * i, 3}));
}

// Steps carry their address and generation here, so that a torn entry would show.
TEST(UnwindCacheTest, IsNeverTorn) {
  UnwindCache cache(6);
  std::vector<std::thread> threads;
  std::atomic<uint64_t> generation{0}, wrong{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 100'000; ++i) {
        const uint64_t now = generation.load();
        const uintptr_t address = 1 + (i * 7 + static_cast<uint64_t>(t)) % 200;
        const uint64_t right = address << 32 | now << 1 | 1;
        const uint64_t found = cache.find(address, now);
        if (found == 0) {
          cache.insert(address, now, right);
        } else if (found != right) {
          ++wrong;
        }
        if (t == 0 && i % 1'000 == 0) ++generation;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
}

}  // namespace
}  // namespace gpufl::symbols
