// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/clock.hpp"
#include "base/eventually.hpp"
#include "format/module_files.hpp"
#include "store/folder_lock.hpp"
#include "store/people.hpp"
#include "store/test_pieces.hpp"

namespace gpufl::store {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::TempDir;
using format::Channel;
using testing::live_piece;
using testing::live_text;
using testing::session_id;
using testing::window_piece;
using What = Outcome::What;

constexpr int64_t kDay_ms = int64_t{24} * 3600 * 1000;

class RetentionTest : public ::testing::Test {
 protected:
  void SetUp() override { start(); }
  void start(const StoreLimits& limits = {.live_patience = std::chrono::milliseconds(0),
                                          .keep_least = std::chrono::milliseconds(0)}) {
    store_.reset();
    auto opened = testing::open_store(folder_.path(), limits);
    ASSERT_TRUE(opened) << opened.status().text();
    store_ = std::move(*opened);
  }
  void set(const Retention& retention) {
    auto people = People::open(catalogue_file(folder_.path()));
    ASSERT_TRUE(people && (*people)->set_retention(1, retention));
    EXPECT_EQ(*(*people)->retention_of(1), retention);
  }
  // Of all sessions: when something of them came last.
  void set_changed(int64_t time_ms) {
    auto catalogue = SqliteCatalogue::open(catalogue_file(folder_.path()));
    ASSERT_TRUE(catalogue);
    ASSERT_TRUE((*catalogue)->database().run("UPDATE sessions SET changed_ms = ?", {time_ms}));
  }
  What send(int session, uint64_t window = 1, int lines = 20) {
    const std::string id = session_id(session);
    return store_
        ->take(window_piece(*store_, id, Channel::Scope, window,
                            live_text(id, Channel::Scope, window, lines)))
        .what;
  }
  StoredSession session(int number) { return (*store_->status(1, session_id(number)))->session; }
  static int64_t in_days(int64_t days) {
    return base::wall_ns() / 1'000'000 + days * kDay_ms + 1000;
  }
  fs::path folder_of(int session) {
    return folder_.path() / session_prefix(1, this->session(session).id);
  }

  TempDir folder_;
  std::unique_ptr<SessionStore> store_;
};

// As they do from an agent that was away for longer than a session without lines counts as live.
TEST_F(RetentionTest, LinesThatComeLateBeginNothing) {
  const std::string id = session_id(1);
  const TempDir logs;
  const fs::path recorded = logs.path() / "s";
  testing::write_session(recorded, id, 1, 5);
  uint64_t last = 1;
  while (fs::exists(recorded / format::sealed_file_name(Channel::System, last + 1))) ++last;
  const std::string end =
      format::testing::read_text(recorded / format::sealed_file_name(Channel::System, last));
  ASSERT_EQ(store_->take(window_piece(*store_, id, Channel::System, last, end)).what, What::Stored);
  const auto send_lines = [&](int session, uint64_t window) {
    const std::string text = live_text(session_id(session), Channel::Scope, window, 1);
    return store_->take(live_piece(session_id(session), Channel::Scope, window, 0, text)).what;
  };
  ASSERT_EQ(send_lines(2, 1), What::Stored);
  ASSERT_TRUE(base::eventually([&] { return !format::is_locked(folder_of(2)); }));
  EXPECT_EQ(send_lines(1, 2), What::Stored);
  EXPECT_FALSE(format::is_locked(folder_of(1))) << "after the house was kept";
  start();
  EXPECT_EQ(send_lines(1, 3), What::Stored);
  EXPECT_FALSE(format::is_locked(folder_of(1))) << "after it was opened again";
}

TEST_F(RetentionTest, WhatIsTooOldGoesAndLeavesATombstone) {
  ASSERT_EQ(send(1), What::Stored);
  ASSERT_EQ(send(2), What::Stored);
  ASSERT_TRUE(store_->set_pinned(1, session_id(2), true));
  ASSERT_TRUE(store_->apply_retention(in_days(10'000)));
  EXPECT_FALSE(session(1).is_purged) << "nothing goes unless somebody says so";
  set({.keep_days = 30, .keep_bytes = {}, .deleted_days = 30});
  ASSERT_TRUE(store_->apply_retention(in_days(29)));
  EXPECT_FALSE(session(1).is_purged);
  const fs::path gone = folder_of(1);
  const int64_t before = store_->admission().used(1);
  ASSERT_TRUE(store_->apply_retention(in_days(30)));
  EXPECT_TRUE(session(1).is_purged);
  EXPECT_FALSE(fs::exists(gone));
  EXPECT_EQ(store_->admission().used(1) * 2, before);
  EXPECT_EQ(send(1), What::Gone);
  EXPECT_TRUE(store_->admission().is_deleted(1, session_id(1)));
  EXPECT_FALSE(session(2).is_purged) << "it is pinned";
  EXPECT_EQ(send(2), What::Known);
  const auto expired = store_->take_expired();
  ASSERT_EQ(expired.size(), 1U);
  EXPECT_EQ(expired[0].session, session_id(1));
  const auto names = store_->take_gone();
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names[0].session, session_id(1));
  EXPECT_TRUE(store_->take_gone().empty());
  start();
  EXPECT_TRUE(store_->take_gone().empty()) << "what went once is not told for ever";
  const auto kept = store_->kept_sessions(1);
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept, std::vector{session_id(2)});
  EXPECT_TRUE(session(1).is_purged);
  EXPECT_EQ(send(1), What::Gone);
  ASSERT_TRUE(store_->set_deleted(1, session_id(1), false));
  EXPECT_EQ(send(1), What::Stored) << "who still has it may send it again";
}

TEST_F(RetentionTest, BeyondItsSizeTheOldestGoButNotWhatIsBeingRecorded) {
  start({.keep_least = std::chrono::milliseconds(0)});
  const std::string id = session_id(9);
  ASSERT_EQ(
      store_->take(live_piece(id, Channel::Scope, 1, 0, live_text(id, Channel::Scope, 1, 9))).what,
      What::Stored);
  for (int i = 1; i <= 4; ++i) {
    ASSERT_EQ(send(i), What::Stored);
    const int64_t then = session(i).changed_ms;
    // Only the next moment is later.
    while (base::wall_ns() / 1'000'000 <= then) std::this_thread::yield();
  }
  ASSERT_TRUE(store_->set_pinned(1, session_id(1), true));
  ASSERT_TRUE(store_->set_deleted(1, session_id(4), true));
  const int64_t used = store_->admission().used(1);
  const auto one = static_cast<int64_t>(session(1).bytes);
  set({.keep_days = {}, .keep_bytes = static_cast<uint64_t>(used - one - 1), .deleted_days = 30});
  ASSERT_TRUE(store_->apply_retention(in_days(0)));
  EXPECT_TRUE(session(4).is_purged) << "what was deleted goes first";
  EXPECT_TRUE(session(2).is_purged);
  EXPECT_FALSE(session(1).is_purged);
  EXPECT_FALSE(session(3).is_purged);
  EXPECT_FALSE(session(9).is_purged);
  EXPECT_EQ(store_->admission().used(1), used - 2 * one);
  set({.keep_days = {}, .keep_bytes = 1, .deleted_days = 30});
  ASSERT_TRUE(store_->apply_retention(in_days(0)));
  EXPECT_TRUE(session(3).is_purged);
  EXPECT_FALSE(session(1).is_purged);
  EXPECT_FALSE(session(9).is_purged);
}

TEST_F(RetentionTest, ASessionOfLiveLinesMakesRoomForTheOthers) {
  const std::string id = session_id(1);
  ASSERT_EQ(
      store_->take(live_piece(id, Channel::Scope, 1, 0, live_text(id, Channel::Scope, 1, 900)))
          .what,
      What::Stored);
  ASSERT_EQ(send(2), What::Stored);
  ASSERT_EQ(send(3), What::Stored);
  const int64_t used = store_->admission().used(1);
  set({.keep_days = {}, .keep_bytes = static_cast<uint64_t>(used - 1), .deleted_days = 30});
  start();  // and nothing is being recorded any more
  ASSERT_TRUE(store_->apply_retention(in_days(1)));
  EXPECT_TRUE(session(1).is_purged);
  EXPECT_FALSE(session(2).is_purged);
  EXPECT_FALSE(session(3).is_purged);
}

// Who may send could else make all sessions go.
TEST_F(RetentionTest, WhatWasSetAsideCountsAgainstNoSession) {
  ASSERT_EQ(send(1), What::Stored);
  const auto used = static_cast<uint64_t>(store_->admission().used(1));
  const std::string junk(100'000, 'x');
  ASSERT_EQ(store_->take(window_piece(*store_, session_id(1), Channel::Device, 1, junk)).what,
            What::Quarantined);
  set({.keep_days = {}, .keep_bytes = used, .deleted_days = 30});
  ASSERT_TRUE(store_->apply_retention(in_days(1)));
  EXPECT_FALSE(session(1).is_purged);
}

TEST_F(RetentionTest, WhatIsRestoredStaysForItsTime) {
  ASSERT_EQ(send(1), What::Stored);
  ASSERT_EQ(send(2), What::Stored);
  set({.keep_days = 30, .keep_bytes = {}, .deleted_days = 30});
  ASSERT_TRUE(store_->set_deleted(1, session_id(2), true));
  set_changed(1000);
  ASSERT_TRUE(store_->apply_retention(in_days(0)));
  ASSERT_TRUE(session(1).is_purged);
  for (const int deleted : {1, 2}) {
    ASSERT_TRUE(store_->set_deleted(1, session_id(deleted), false));
  }
  ASSERT_TRUE(store_->apply_retention(in_days(29)));
  EXPECT_FALSE(session(1).is_purged) << "its sender has not heard of it yet";
  EXPECT_FALSE(session(2).is_purged);
  EXPECT_EQ(send(2), What::Known);
}

// A session whose network is away for a minute is one that goes on.
TEST_F(RetentionTest, WhatHasJustChangedStaysWhateverItsSize) {
  start({.live_patience = std::chrono::milliseconds(0)});
  const std::string id = session_id(1);
  const std::string text = live_text(id, Channel::Scope, 1, 9);
  const std::string first = live_text(id, Channel::Scope, 1, 4);
  ASSERT_EQ(store_->take(live_piece(id, Channel::Scope, 1, 0, first)).what, What::Stored);
  ASSERT_EQ(send(2), What::Stored);
  set_changed(1000);
  ASSERT_EQ(
      store_->take(live_piece(id, Channel::Scope, 1, first.size(), text.substr(first.size()))).what,
      What::Stored);
  start({.live_patience = std::chrono::milliseconds(0)});  // and nothing is being recorded
  set({.keep_days = 1, .keep_bytes = 1, .deleted_days = 30});
  ASSERT_TRUE(store_->apply_retention(in_days(0)));
  EXPECT_FALSE(session(1).is_purged) << "lines are changes, too";
  EXPECT_TRUE(session(2).is_purged);
  ASSERT_TRUE(store_->apply_retention(in_days(0) + 3'700'000));
  EXPECT_TRUE(session(1).is_purged);
}

TEST(ClockWatchTest, TrustsNoTimeThatHasJustJumped) {
  constexpr int64_t kHour_ms = 3'600'000;
  ClockWatch clocks;
  EXPECT_TRUE(clocks.may_trust(1'000'000, 5));
  EXPECT_TRUE(clocks.may_trust(1'010'500, 10'005)) << "clocks drift";
  EXPECT_FALSE(clocks.may_trust(kDay_ms, 20'005));
  EXPECT_FALSE(clocks.may_trust(kDay_ms + kHour_ms - 1, 20'004 + kHour_ms));
  EXPECT_TRUE(clocks.may_trust(kDay_ms + kHour_ms, 20'005 + kHour_ms));
  EXPECT_FALSE(clocks.may_trust(kDay_ms, 20'006 + kHour_ms)) << "back is a step, too";
}

TEST_F(RetentionTest, WhatWasDeletedGoesAfterItsTimeWithItsModules) {
  const std::string image(20'000, 'm');
  ASSERT_TRUE(format::write_module(folder_.path() / "m", image));
  const std::string bytes = format::testing::read_text(folder_.path() / "m");
  for (const int session : {1, 2}) {
    Piece piece = testing::piece_of(PieceKind::Module, session_id(session));
    piece.hash = format::module_hash(image);
    ASSERT_EQ(store_->take(testing::with_blob(*store_, std::move(piece), bytes)).what,
              What::Stored);
    ASSERT_EQ(send(session), What::Stored);
  }
  const fs::path shared = folder_.path() / module_name(1, testing::sha256_of_text(bytes));
  ASSERT_TRUE(store_->set_deleted(1, session_id(1), true));
  ASSERT_TRUE(store_->set_deleted(1, session_id(2), true));
  ASSERT_TRUE(store_->set_deleted(1, session_id(2), false));
  EXPECT_EQ(store_->set_pinned(1, session_id(1), true).code(), Code::NotFound);
  ASSERT_TRUE(store_->apply_retention(in_days(29)));
  EXPECT_FALSE(session(1).is_purged);
  ASSERT_TRUE(store_->apply_retention(in_days(30)));
  EXPECT_TRUE(session(1).is_purged);
  EXPECT_TRUE(fs::exists(shared)) << "another session has it";
  EXPECT_FALSE(fs::exists(folder_.path() / deleted_prefix(1, session(1).id)));
  ASSERT_TRUE(store_->set_deleted(1, session_id(2), true));
  ASSERT_TRUE(store_->apply_retention(in_days(60)));
  EXPECT_FALSE(fs::exists(shared));
  EXPECT_EQ(store_->admission().used(1), 0);
}

TEST_F(RetentionTest, ThePaceIsItsOwn) {
  ASSERT_EQ(send(1), What::Stored);
  ASSERT_TRUE(store_->set_deleted(1, session_id(1), true));
  set({.keep_days = {}, .keep_bytes = {}, .deleted_days = 0});
  start({.retention_pace = std::chrono::milliseconds(1)});
  EXPECT_TRUE(base::eventually([&] { return session(1).is_purged; }));
}

// However many go, who sends does not wait for the last of them.
TEST_F(RetentionTest, WhatIsSentIsKeptWhileManyGo) {
  constexpr int kSessions = 40;
  for (int i = 1; i <= kSessions; ++i) ASSERT_EQ(send(i), What::Stored);
  set_changed(0);
  set({.keep_days = 1, .keep_bytes = {}, .deleted_days = 30});
  start({.expiry_time = std::chrono::milliseconds(0)});
  const auto gone = [&] {
    const auto all = store_->sessions(1, kSessions + 1, 0);
    return std::count_if(all->begin(), all->end(), [](const auto& one) { return one.is_purged; });
  };
  const std::string id = session_id(kSessions + 1);
  std::string text = live_text(id, Channel::Scope, 1, 1);
  uint64_t offset = 0;
  int kept_meanwhile = 0;
  for (int64_t before = 0; before < kSessions;) {
    ASSERT_EQ(store_->take(live_piece(id, Channel::Scope, 1, offset, text)).what, What::Stored);
    offset += text.size();
    text = "{}\n";
    const int64_t after = gone();
    kept_meanwhile += before > 0 && after < kSessions ? 1 : 0;
    before = after;
  }
  EXPECT_GT(kept_meanwhile, 0);
}

// Whatever becomes of a session meanwhile: what was acknowledged and not purged is there.
TEST_F(RetentionTest, RunsBesideThoseWhoSend) {
  set({.keep_days = {}, .keep_bytes = 20'000, .deleted_days = 0});
  constexpr int kSenders = 3, kWindows = 25;
  std::atomic<bool> is_over = false;
  std::atomic<int> stored = 0, gone = 0;
  std::thread keeper([&] {
    while (!is_over) EXPECT_TRUE(store_->apply_retention(in_days(0)));
  });
  std::vector<std::thread> senders;
  for (int sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back([&, sender] {
      for (int i = 0; i < kWindows; ++i) {
        const int session = 100 * (sender + 1) + i / 3;
        const std::string id = session_id(session);
        const std::string text = live_text(id, Channel::System, 1, 5);
        const What live = store_->take(live_piece(id, Channel::System, 1, 0, text)).what;
        EXPECT_TRUE(live == What::Stored || live == What::Known || live == What::Gone);
        const What what = send(session, static_cast<uint64_t>(i) + 1);
        EXPECT_TRUE(what == What::Stored || what == What::Gone) << static_cast<int>(what);
        stored += what == What::Stored ? 1 : 0;
        gone += what == What::Gone ? 1 : 0;
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  is_over = true;
  keeper.join();
  EXPECT_EQ(stored + gone, kSenders * kWindows);
  const int64_t used = store_->admission().used(1);
  start();
  EXPECT_EQ(store_->admission().used(1), used) << "what is counted is what is there";
  EXPECT_TRUE(store_->apply_retention(in_days(1)));  // when nothing is being recorded any more
  const auto sessions = store_->sessions(1, 1000, 0);
  ASSERT_TRUE(sessions);
  uint64_t purged = 0;
  for (const StoredSession& one : *sessions) {
    purged += one.is_purged ? 1 : 0;
    const auto status = store_->status(1, one.name);
    EXPECT_EQ((*status)->contents.windows.empty(), one.is_purged);
    for (const StoredWindow& window : (*status)->contents.windows) {
      const bool is_sealed = window.state == WindowState::Sealed;
      EXPECT_TRUE(fs::exists(folder_.path() / session_prefix(1, one.id) /
                             blob_file_name(is_sealed ? PieceKind::Window : PieceKind::Live,
                                            window.channel, window.number, {})));
    }
  }
  EXPECT_GT(purged, 0U);
}

}  // namespace
}  // namespace gpufl::store
