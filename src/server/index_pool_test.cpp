// SPDX-License-Identifier: Apache-2.0
#include "server/index_pool.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

#include "base/eventually.hpp"
#include "index/queries.hpp"
#include "index/random_session.hpp"

namespace gpufl::server {
namespace {

using base::eventually;
using std::chrono::milliseconds;

class IndexPoolTest : public ::testing::Test {
 protected:
  void start(const IndexLimits& limits) { pool_.emplace(dir_.path() / "cache", limits); }

  SessionEntry session(int number, int stretches = 10) {
    SessionEntry entry;
    entry.dir = dir_.path() / std::to_string(number);
    entry.stamp = "1";
    if (std::filesystem::exists(entry.dir)) return entry;
    index::testing::RandomSession made(entry.dir, static_cast<uint64_t>(number));
    for (int i = 0; i < stretches; ++i) made.add(100);
    made.close();
    return entry;
  }
  // One that was killed, with a window of many pieces.
  SessionEntry large_session(int number) {
    SessionEntry entry;
    entry.dir = dir_.path() / std::to_string(number);
    entry.stamp = "1";
    index::testing::RandomSession made(entry.dir, static_cast<uint64_t>(number));
    made.add(100);
    made.kill();
    std::ofstream file(entry.dir / "device.log", std::ios::binary | std::ios::app);
    for (int i = 0; i < 150'000; ++i) file << "{\"type\":\"of a later version\"}\n";
    return entry;
  }
  // Once it has been indexed.
  OpenIndex finish(const SessionEntry& asked) {
    OpenIndex open;
    EXPECT_TRUE(eventually([&] {
      auto found = pool_->open(asked, {std::chrono::minutes(1)});
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

TEST_F(IndexPoolTest, FilesOfSessionsThatNobodyLooksAtAreBounded) {
  start({.sessions = 1, .file_bytes = 1, .file_pace = milliseconds(0)});
  const auto files = [&](int number) {
    return dir_.path() / "cache" / name_hash(session(number).dir.string());
  };
  std::filesystem::create_directories(dir_.path() / "cache");
  finish(session(1));
  EXPECT_FALSE(std::filesystem::is_empty(files(1))) << "it is in use";
  SessionEntry second = session(2);
  EXPECT_TRUE(eventually([&] {
    second.stamp += "1";
    finish(second);
    return !std::filesystem::exists(files(1));
  }));
  EXPECT_TRUE(std::filesystem::exists(files(2)));
  finish(session(1));
}

TEST_F(IndexPoolTest, WhatNobodyAskedForLeavesFilesAndNothingInMemory) {
  start({.sessions = 1});
  finish(session(1));
  constexpr int kSessions = 5;
  for (int number = 2; number <= kSessions; ++number) {
    pool_->prepare(std::make_shared<SessionEntry>(session(number)));
  }
  const auto is_made = [&](int number) {
    const auto folder = dir_.path() / "cache" / name_hash(session(number).dir.string());
    std::error_code error;
    const std::filesystem::directory_iterator files(folder, error);
    return std::any_of(begin(files), end(files),
                       [](const auto& file) { return file.path().extension() == ".idx"; });
  };
  for (int number = 2; number <= kSessions; ++number) {
    EXPECT_TRUE(eventually([&] { return is_made(number); })) << number;
  }
  EXPECT_TRUE(eventually([&] { return pool_->counts().open == 1; }));
  EXPECT_EQ(pool_->counts().waiting, 0U);
  // It made room for none of them; one that is prepared and asked for at once stays.
  SessionEntry grown = session(1);
  grown.stamp = "2";
  pool_->prepare(std::make_shared<SessionEntry>(grown));
  EXPECT_FALSE(finish(grown).session->windows.empty());
  EXPECT_EQ(pool_->counts().open, 1U);
}

TEST_F(IndexPoolTest, WhatIsDroppedDoesNotWaitAnyMore) {
  constexpr int kSessions = 12;
  for (int i = 0; i < kSessions; ++i) session(i);
  start({.sessions = 2});
  for (int i = 0; i < kSessions; ++i) {
    EXPECT_TRUE(pool_->open(session(i), {milliseconds(0)}));
    EXPECT_LE(pool_->counts().waiting, 2U);
  }
  EXPECT_EQ(pool_->counts().open, 2U);
  finish(session(kSessions - 1));
}

// While the first session is being read, the second one gets its turn.
TEST_F(IndexPoolTest, ALargeSessionDoesNotKeepOthersWaiting) {
  const SessionEntry large = large_session(1);
  const SessionEntry other = session(2);
  std::mutex mutex;
  std::vector<std::thread::id> asked;  // in the order of time
  std::atomic<bool> has_begun = false, may_go_on = false;
  IndexLimits limits{.turn = milliseconds(0)};
  limits.window.clock = [&] {
    has_begun = true;
    while (!may_go_on) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    asked.push_back(std::this_thread::get_id());
    return std::chrono::nanoseconds(0);
  };
  start(limits);
  ASSERT_TRUE(pool_->open(large, {milliseconds(0)}));
  ASSERT_TRUE(eventually([&] { return has_begun.load(); }));
  ASSERT_TRUE(pool_->open(other, {milliseconds(0)}));
  // Somebody has it, and waits for the turn.
  ASSERT_TRUE(eventually([&] { return pool_->counts().waiting == 0; }));
  may_go_on = true;
  finish(large);
  finish(other);
  const std::thread::id first = asked.front();
  const auto second =
      std::find_if(asked.begin(), asked.end(), [&](auto id) { return id != first; });
  ASSERT_NE(second, asked.end());
  EXPECT_NE(std::find(second, asked.end(), first), asked.end()) << "one after the other";
}

// There are more sessions than threads: a window ends, and the next one is another session's.
TEST_F(IndexPoolTest, SessionsWithoutAThreadGetOneBetweenWindows) {
  const SessionEntry large = session(1);
  const SessionEntry other = session(2, 1);
  std::atomic<bool> has_begun = false, may_go_on = false, was_ready = false;
  IndexLimits limits{.workers = 1, .turn = milliseconds(0)};
  limits.window.clock = [&] {
    has_begun = true;
    while (!may_go_on) std::this_thread::yield();
    // Windows of the first are still being read when the second is complete.
    const auto open = pool_->open(other, {milliseconds(0)});
    if (open && open->session != nullptr && open->session->progress.is_complete()) was_ready = true;
    return std::chrono::nanoseconds(0);
  };
  start(limits);
  ASSERT_TRUE(pool_->open(large, {milliseconds(0)}));
  ASSERT_TRUE(eventually([&] { return has_begun.load(); }));
  ASSERT_TRUE(pool_->open(other, {milliseconds(0)}));
  may_go_on = true;
  const OpenIndex first = finish(large);
  EXPECT_TRUE(was_ready);
  EXPECT_GT(first.session->windows.size(), 3U);
  EXPECT_TRUE(first.session->problems.empty());
}

TEST_F(IndexPoolTest, WhoeverIsContentWithAPartNeedNotWaitForTheRest) {
  const SessionEntry asked = session(1);
  std::atomic<bool> may_go_on = false;
  IndexLimits limits;
  limits.window.clock = [&] {
    // As soon as a window can be had, the next ones take for ever.
    const auto open = pool_->open(asked, {milliseconds(0)});
    while (open && open->session != nullptr && !may_go_on) std::this_thread::yield();
    return std::chrono::nanoseconds(0);
  };
  start(limits);
  const auto part = pool_->open(asked, {milliseconds(0), std::chrono::minutes(1)});
  may_go_on = true;
  ASSERT_TRUE(part) << part.status().text();
  ASSERT_NE(part->session, nullptr);
  EXPECT_FALSE(part->session->windows.empty());
  EXPECT_FALSE(part->session->progress.is_complete());
  EXPECT_GT(finish(asked).session->windows.size(), part->session->windows.size());
}

TEST_F(IndexPoolTest, ADamagedIndexIsMadeAgain) {
  start({});
  const SessionEntry asked = session(1);
  const auto tile_of = [](const OpenIndex& open) {
    index::TileRequest request{0, open.session->span.last, 4, {}, 0};
    for (const auto& track : index::list_tracks(open.session->windows, 0)) {
      request.tracks.push_back(track.key);
    }
    return index::make_tile(open.session->windows, request, 0);
  };
  ASSERT_TRUE(tile_of(finish(asked)));
  const uint64_t version = finish(asked).session->version;
  const auto cut = [&] {
    for (const auto& file : std::filesystem::recursive_directory_iterator(dir_.path() / "cache")) {
      if (file.is_regular_file()) std::filesystem::resize_file(file, file.file_size() / 2);
    }
  };
  cut();
  EXPECT_FALSE(pool_->is_damaged(asked));
  ASSERT_FALSE(tile_of(finish(asked)));
  EXPECT_TRUE(pool_->is_damaged(asked));
  ASSERT_TRUE(eventually([&] { return tile_of(finish(asked)).is_ok(); }));
  EXPECT_FALSE(pool_->is_damaged(asked));
  EXPECT_GT(finish(asked).session->version, version);
  // Gone altogether: what is open stays good.
  std::filesystem::remove_all(dir_.path() / "cache");
  EXPECT_TRUE(tile_of(finish(asked)));
}

}  // namespace
}  // namespace gpufl::server
