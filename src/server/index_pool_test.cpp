// SPDX-License-Identifier: Apache-2.0
#include "server/index_pool.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "base/eventually.hpp"
#include "index/random_session.hpp"

namespace gpufl::server {
namespace {

using base::eventually;
using std::chrono::milliseconds;

class IndexPoolTest : public ::testing::Test {
 protected:
  void start(const IndexLimits& limits) { pool_.emplace(dir_.path() / "cache", limits); }

  SessionEntry session(int number) {
    SessionEntry entry;
    entry.dir = dir_.path() / std::to_string(number);
    entry.stamp = "1";
    if (std::filesystem::exists(entry.dir)) return entry;
    index::testing::RandomSession made(entry.dir, static_cast<uint64_t>(number));
    for (int i = 0; i < 10; ++i) made.add(100);
    made.close();
    return entry;
  }
  // Once it has been indexed.
  OpenIndex finish(const SessionEntry& asked) {
    OpenIndex open;
    EXPECT_TRUE(eventually([&] {
      auto found = pool_->open(asked, std::chrono::minutes(1));
      EXPECT_TRUE(found) << found.status().text();
      if (found) open = *found;
      return open.session != nullptr && open.session->progress.is_complete();
    }));
    return open;
  }

  format::testing::TempDir dir_;
  std::optional<IndexPool> pool_;
};

TEST_F(IndexPoolTest, TellsHowMuchMemoryItHas) {
  start({});
  finish(session(1));
  const uint64_t one = pool_->counts().bytes;
  EXPECT_GT(one, 10'000U);
  finish(session(2));
  EXPECT_GT(pool_->counts().bytes, one);
  EXPECT_EQ(pool_->counts().open, 2U);
  // The same again takes no more.
  const uint64_t two = pool_->counts().bytes;
  SessionEntry again = session(1);
  again.stamp = "2";
  finish(again);
  EXPECT_TRUE(eventually([&] { return pool_->counts().waiting == 0; }));
  EXPECT_EQ(pool_->counts().bytes, two);
}

TEST_F(IndexPoolTest, DropsWhatWasLongestNotAskedForBeyondItsMemory) {
  start({});
  finish(session(1));
  const uint64_t one = pool_->counts().bytes;
  start({.bytes = 2 * one + one / 2});
  const OpenIndex held = finish(session(1));
  finish(session(2));
  finish(session(3));
  finish(session(4));
  EXPECT_LT(pool_->counts().open, 4U);
  EXPECT_LE(pool_->counts().bytes, 2 * one + one / 2);
  // Whoever has one keeps it, and it can be asked for again.
  EXPECT_FALSE(held.session->windows.empty());
  EXPECT_EQ(finish(session(1)).session->windows.size(), held.session->windows.size());
}

TEST_F(IndexPoolTest, TheLastOneStaysHoweverLargeItIs) {
  start({.bytes = 1});
  finish(session(1));
  finish(session(2));
  EXPECT_EQ(pool_->counts().open, 1U);
  EXPECT_GT(pool_->counts().bytes, 1U);
}

TEST_F(IndexPoolTest, WhatIsDroppedDoesNotWaitAnyMore) {
  constexpr int kSessions = 12;
  for (int i = 0; i < kSessions; ++i) session(i);
  start({.sessions = 2});
  for (int i = 0; i < kSessions; ++i) {
    EXPECT_TRUE(pool_->open(session(i), milliseconds(0)));
    EXPECT_LE(pool_->counts().waiting, 2U);
  }
  EXPECT_EQ(pool_->counts().open, 2U);
  finish(session(kSessions - 1));
}

}  // namespace
}  // namespace gpufl::server
