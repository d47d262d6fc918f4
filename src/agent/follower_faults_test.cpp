// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "agent/test_following.hpp"

// What goes wrong for one session or for the server, seen from an agent that goes on.
namespace gpufl::agent {
namespace {

using namespace testing;

class FollowerFaultsTest : public FollowerTest {
 protected:
  FollowOptions draining() {
    FollowOptions made = options();
    made.drains = true;
    return made;
  }
};

TEST_F(FollowerFaultsTest, ASessionTheServerCannotTakeHoldsUpNoOther) {
  for (int number : {1, 2, 3}) record(number);
  server_.be_mischievous([&](const net::HttpRequest& request, Session&) {
    const bool is_hit = request.query_value("session") == id_of(1);
    return is_hit ? std::optional(net::problem(500)) : std::nullopt;
  });
  Follower follower(options());
  std::thread thread([&] { follower.run(); });
  EXPECT_TRUE(eventually([&] { return follower.counts().complete == 2; }));
  is_stopped_ = true;
  thread.join();
  EXPECT_TRUE(is_there(2));
  EXPECT_TRUE(is_there(3));
}

// A log of the agent is read by people, and kept by somebody.
TEST_F(FollowerFaultsTest, SaysOnceWhatCannotBeTakenNow) {
  for (int number : {1, 2}) record(number);
  server_.be_mischievous([&](const net::HttpRequest& request, Session&) {
    const bool is_hit = request.query_value("session") == id_of(1) &&
                        request.query_value("kind") == "window" &&
                        request.query_value("channel") == "scope";
    return is_hit ? std::optional(net::problem(500, "broken")) : std::nullopt;
  });
  FollowOptions once = options();
  std::vector<std::string> said;
  once.say = [&](std::string_view text) { said.emplace_back(text); };
  std::atomic<int> looks{0};
  once.is_stopped = [&] {
    ++looks;
    return is_stopped_.load();
  };
  Follower follower(once);
  std::thread thread([&] { follower.run(); });
  EXPECT_TRUE(eventually([&] { return follower.counts().waits >= 3; })) << "then it is put off";
  const int until = looks + 60;
  EXPECT_TRUE(eventually([&] { return looks > until; }));
  is_stopped_ = true;
  thread.join();
  const std::string folder = (logs_ / "run" / id_of(1)).string();
  EXPECT_EQ(said, (std::vector{folder + ": " + server_.url() + ": broken"}));
}

TEST_F(FollowerFaultsTest, SaysThatAServerIsBack) {
  record(1);
  std::atomic<int> refusals{2};
  server_.be_mischievous([&](const net::HttpRequest& request, Session&) {
    const bool is_busy = request.method == "POST" && refusals-- > 0;
    return is_busy ? std::optional(net::problem(429, "too much")) : std::nullopt;
  });
  FollowOptions told = draining();
  std::vector<std::string> said;
  told.say = [&](std::string_view text) { said.emplace_back(text); };
  EXPECT_EQ(Follower(told).run(), End::Drained);
  EXPECT_EQ(said, (std::vector{server_.url() + ": too much", std::string("sending works again")}));
}

// By way of a proxy, so that the address is another machine's.
TEST_F(FollowerFaultsTest, WarnsOnceOfAKeyInTheClear) {
  record(1);
  FollowOptions warned = options();
  warned.server.backend_url = "http://gpu.invalid";
  warned.server.api_key = make_key('2');
  warned.variables = [&](const std::string& name) {
    return name == "http_proxy" ? server_.url() : std::string();
  };
  std::vector<std::string> said;
  warned.say = [&](std::string_view text) { said.emplace_back(text); };
  Follower follower(warned);
  std::thread thread([&] { follower.run(); });
  EXPECT_TRUE(eventually([&] { return follower.counts().waits >= 4; }));
  is_stopped_ = true;
  thread.join();
  EXPECT_EQ(said, (std::vector<std::string>{
                      "the key goes to http://gpu.invalid unencrypted: use https:// where you can",
                      "http://gpu.invalid does not know the key: it may be revoked"}));
}

// With the pause that a running agent makes before it calls a text final.
TEST_F(FollowerFaultsTest, ADrainWaitsForTheEndOfWhatAKilledProgramLeft) {
  auto writer = begin(1);
  write(*writer, 0);
  writer->abandon();
  FollowOptions drains = draining();
  drains.final_after = 500ms;
  Follower follower(drains);
  EXPECT_EQ(follower.run(), End::Drained);
  const Session session = server_.session(id_of(1));
  size_t final = 0;
  for (const auto& [key, window] : session.windows) final += window.is_final ? 1 : 0;
  EXPECT_GT(final, 0u);
  EXPECT_EQ(follower.counts().complete, 1u);
}

TEST_F(FollowerFaultsTest, AStartThatDiedBeforeItsFirstLineIsDrained) {
  record(1);
  fs::create_directories(logs_ / "run" / "dead");
  write_text(logs_ / "run" / "dead" / "system.log", "");
  Follower follower(draining());
  EXPECT_EQ(follower.run(), End::Drained);
  EXPECT_TRUE(is_there(1));
}

TEST_F(FollowerFaultsTest, ADrainHasATime) {
  record(1);
  server_.be_mischievous(
      [](const net::HttpRequest&, Session&) { return std::optional(net::problem(503)); });
  FollowOptions drains = draining();
  drains.drain_for = 50ms;
  std::vector<std::string> said;
  drains.say = [&](std::string_view text) { said.emplace_back(text); };
  EXPECT_EQ(Follower(drains).run(), End::Incomplete);
  EXPECT_EQ(said.back(), "the time to drain is over; what is left stays here");
}

TEST_F(FollowerFaultsTest, ARestoredServerIsSentAgainWhatItLacks) {
  record(1);
  server_.set_generation("before");
  FollowOptions asks = options();
  asks.ask_server_every = 20ms;
  Follower follower(asks);
  std::thread thread([&] { follower.run(); });
  EXPECT_TRUE(eventually([&] { return follower.counts().complete == 1; }));
  server_.change(id_of(1), [](Session& session) { session = {}; });
  server_.set_generation("after");
  EXPECT_TRUE(eventually([&] { return is_there(1); }));
  is_stopped_ = true;
  thread.join();
}

TEST_F(FollowerFaultsTest, AServerThatWasAwayIsAskedAtOnceWhetherItWasRestored) {
  record(1);
  server_.set_generation("before");
  FollowOptions asks = options();
  asks.ask_server_every = 1h;
  Follower follower(asks);
  std::thread thread([&] { follower.run(); });
  EXPECT_TRUE(eventually([&] { return follower.counts().complete == 1; }));
  server_.be_mischievous(
      [](const net::HttpRequest&, Session&) { return std::optional(net::problem(429)); });
  record(2);
  EXPECT_TRUE(eventually([&] { return follower.counts().waits > 0; }));
  server_.change(id_of(1), [](Session& session) { session = {}; });
  server_.set_generation("after");
  server_.be_mischievous({});
  EXPECT_TRUE(eventually([&] { return is_there(1) && is_there(2); }));
  is_stopped_ = true;
  thread.join();
}

TEST_F(FollowerFaultsTest, ADeletionThatWasUndoneIsNoticed) {
  record(1);
  server_.change(id_of(1), [](Session& session) { session.is_deleted = true; });
  FollowOptions asks = options();
  asks.ask_gone_every = 20ms;
  std::atomic<int> told{0};
  asks.say = [&](std::string_view) { ++told; };
  Follower follower(asks);
  std::thread thread([&] { follower.run(); });
  EXPECT_TRUE(eventually([&] { return server_.questions() > 3; }));
  EXPECT_EQ(follower.counts().complete, 0u);
  EXPECT_EQ(told, 1) << "once";
  server_.change(id_of(1), [](Session& session) { session.is_deleted = false; });
  EXPECT_TRUE(eventually([&] { return follower.counts().complete == 1; }));
  is_stopped_ = true;
  thread.join();
  EXPECT_TRUE(is_there(1));
}

TEST_F(FollowerFaultsTest, ARefusedFileIsNotAskedAboutForEver) {
  record(1);
  server_.be_mischievous([&](const net::HttpRequest& request, Session&) {
    const bool is_hit = request.query_value("kind") == "window";
    return is_hit ? std::optional(net::problem(422, "damaged")) : std::nullopt;
  });
  Follower follower(options());
  std::thread thread([&] { follower.run(); });
  EXPECT_TRUE(eventually([&] { return follower.counts().set_aside > 0; }));
  // As long as others' sessions take: rounds enough to have asked many times.
  record(2);
  record(3);
  EXPECT_TRUE(eventually([&] { return follower.counts().sessions == 3; }));
  const int before = server_.questions();
  record(4);
  EXPECT_TRUE(eventually([&] { return follower.counts().sessions == 4; }));
  is_stopped_ = true;
  thread.join();
  EXPECT_LE(server_.questions() - before, 8);
}

TEST_F(FollowerFaultsTest, SaysOnceWhatItCannotDelete) {
  record(1);
  FollowOptions deletes = draining();
  deletes.delete_after = 0s;
  int tried = 0;
  deletes.delete_session = [&](const fs::path&) { ++tried; };
  std::vector<std::string> said;
  deletes.say = [&](std::string_view text) { said.emplace_back(text); };
  Follower follower(deletes);
  EXPECT_EQ(follower.run(), End::Drained);
  EXPECT_EQ(tried, 1);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("cannot be deleted here"), std::string::npos) << said[0];
  EXPECT_EQ(follower.counts().deleted, 0u);
}

TEST_F(FollowerFaultsTest, AFolderThatStaysIsNoSessionThatStays) {
  record(1);
  FollowOptions deletes = draining();
  deletes.delete_after = 0s;
  deletes.delete_session = [&](const fs::path& dir) {
    for (const std::string& name : file_names(dir)) fs::remove(dir / name);
  };
  std::vector<std::string> said;
  deletes.say = [&](std::string_view text) { said.emplace_back(text); };
  Follower follower(deletes);
  EXPECT_EQ(follower.run(), End::Drained);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("its folder stays"), std::string::npos) << said[0];
  EXPECT_EQ(follower.counts().deleted, 1u);
}

TEST_F(FollowerFaultsTest, ASessionWithOtherBytesOnTheServerIsNeverDeleted) {
  record(1);
  ASSERT_EQ(Follower(draining()).run(), End::Drained);
  server_.change(id_of(1), [](Session& session) {
    for (auto& [key, window] : session.windows) window.sealed = "other";
  });
  FollowOptions deletes = draining();
  deletes.delete_after = 0s;
  deletes.delete_session = [](const fs::path& dir) { fs::remove_all(dir); };
  Follower follower(deletes);
  EXPECT_EQ(follower.run(), End::Incomplete);
  EXPECT_TRUE(fs::exists(logs_ / "run" / id_of(1) / "manifest.ndjson"));
}

TEST_F(FollowerFaultsTest, ASessionWithAFileThatCannotBeReadIsNeverDeleted) {
  record(1);
  fs::create_symlink("elsewhere", logs_ / "run" / id_of(1) / "symbols.ndjson");
  FollowOptions deletes = draining();
  deletes.delete_after = 0s;
  deletes.delete_session = [](const fs::path& dir) { fs::remove_all(dir); };
  std::vector<std::string> said;
  deletes.say = [&](std::string_view text) { said.emplace_back(text); };
  Follower follower(deletes);
  EXPECT_EQ(follower.run(), End::Incomplete);
  EXPECT_TRUE(fs::exists(logs_ / "run" / id_of(1) / "manifest.ndjson"));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("symbols.ndjson: not sent: "), std::string::npos) << said[0];
}

TEST_F(FollowerFaultsTest, SaysOnceWhichSessionsCannotBeRead) {
  for (int number : {1, 2}) {
    const fs::path session = logs_ / "run" / id_of(number);
    fs::create_directories(session);
    write_text(session / "other", "");
    fs::create_symlink("other", session / "manifest.ndjson");
  }
  record(3);
  std::mutex mutex;
  std::vector<std::string> said;
  FollowOptions follows = options();
  follows.walk_every = 1ms;
  follows.say = [&](std::string_view text) {
    const std::lock_guard lock(mutex);
    said.emplace_back(text);
  };
  Follower follower(follows);
  std::thread thread([&] { follower.run(); });
  EXPECT_TRUE(eventually([&] { return follower.counts().complete == 1; }));
  for (int number : {4, 5, 6}) {
    record(number);
    EXPECT_TRUE(eventually([&] { return is_there(number); }));
  }
  is_stopped_ = true;
  thread.join();
  EXPECT_EQ(said.size(), 2u);
}

// As somebody who is no administrator, who may read everything.
TEST_F(FollowerFaultsTest, AFolderThatMayNotBeReadIsNotDrained) {
  record(1);
  fs::create_directories(logs_ / "closed" / "session");
  fs::permissions(dir_.path(), fs::perms(0711));
  fs::permissions(logs_ / "closed", fs::perms::none);
  std::vector<std::string> said;
  FollowOptions drains = draining();
  drains.say = [&](std::string_view text) { said.emplace_back(text); };
  Follower follower(drains);
  const uid_t self = ::geteuid();
  constexpr uid_t kNobody = 65534;
  ASSERT_TRUE(self != 0 || ::seteuid(kNobody) == 0);
  const End end = follower.run();
  ASSERT_EQ(::seteuid(self), 0);
  fs::permissions(logs_ / "closed", fs::perms::owner_all);
  EXPECT_EQ(end, End::Incomplete);
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said[0], (logs_ / "closed").string() + " may not be read: sessions in it are not sent");
}

TEST_F(FollowerFaultsTest, TheFileSystemsOwnFolderIsNobodys) {
  record(1);
  fs::create_directories(logs_ / "lost+found");
  fs::permissions(dir_.path(), fs::perms(0711));
  fs::permissions(logs_ / "lost+found", fs::perms::none);
  Follower follower(draining());
  const uid_t self = ::geteuid();
  constexpr uid_t kNobody = 65534;
  ASSERT_TRUE(self != 0 || ::seteuid(kNobody) == 0);
  const End end = follower.run();
  ASSERT_EQ(::seteuid(self), 0);
  EXPECT_EQ(end, End::Drained);
}

// Each that is open takes descriptors, of which a service has a thousand.
TEST_F(FollowerFaultsTest, TakesMoreSessionsInTurnThanItCanHaveOpen) {
  record(1);
  constexpr uint64_t kSessions = 250;
  for (uint64_t i = 1; i < kSessions; ++i) {
    fs::copy(logs_ / "run" / id_of(1), logs_ / "run" / ("copy" + std::to_string(i)));
  }
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{200, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  FollowOptions drains = draining();
  std::vector<std::string> said;
  drains.say = [&](std::string_view text) { said.emplace_back(text); };
  Follower follower(drains);
  const End end = follower.run();
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(end, End::Drained);
  EXPECT_EQ(follower.counts().complete, kSessions);
  EXPECT_EQ(said, std::vector<std::string>());
}

TEST_F(FollowerFaultsTest, WhatCannotBeOpenedIsNotDrained) {
  record(1);
  std::vector<int> taken;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  for (int fd = ::dup(STDIN_FILENO); fd >= 0; fd = ::dup(STDIN_FILENO)) taken.push_back(fd);
  for (int free : {1, 2, 3}) {
    ::close(taken.back());
    taken.pop_back();
    const auto session = SessionFolder::open(logs_ / "run" / id_of(1));
    if (!session) {
      EXPECT_EQ(session.status().code(), base::Code::IoError) << free << " free";
    }
  }
  for (const int fd : taken) ::close(fd);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(SessionFolder::open(logs_ / "run" / id_of(1)));
}

TEST_F(FollowerFaultsTest, FollowsSeveralFolders) {
  record(1);
  fs::rename(logs_, dir_.path() / "first");
  record(2);
  FollowOptions drains = draining();
  drains.folders = {dir_.path() / "first", logs_};
  Follower follower(drains);
  EXPECT_EQ(follower.run(), End::Drained);
  EXPECT_EQ(follower.counts().complete, 2u);
  EXPECT_TRUE(is_there(2));
}

TEST_F(FollowerFaultsTest, KnowsWhatIsLeft) {
  record(1);
  server_.be_mischievous([](const net::HttpRequest& request, Session&) {
    return request.method == "POST" ? std::optional(net::problem(503)) : std::nullopt;
  });
  Follower follower(options());
  std::thread thread([&] { follower.run(); });
  EXPECT_TRUE(eventually([&] { return follower.counts().left_bytes > 0; }));
  EXPECT_TRUE(eventually([&] { return follower.counts().lag >= 1s; }));
  server_.be_mischievous({});
  EXPECT_TRUE(eventually([&] { return follower.counts().complete == 1; }));
  EXPECT_TRUE(eventually([&] { return follower.counts().left_bytes == 0; }));
  EXPECT_TRUE(eventually([&] { return follower.counts().lag == 0s; }));
  is_stopped_ = true;
  thread.join();
}

}  // namespace
}  // namespace gpufl::agent
