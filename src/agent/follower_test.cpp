// SPDX-License-Identifier: Apache-2.0
#include "agent/follower.hpp"

#include <gtest/gtest.h>

#include "agent/test_following.hpp"

namespace gpufl::agent {
namespace {

using namespace testing;

TEST_F(FollowerTest, DrainsWhatIsThere) {
  for (int number : {1, 2, 3}) record(number);
  FollowOptions drains = options();
  drains.drains = true;
  Follower follower(drains);
  EXPECT_EQ(follower.run(), End::Drained);
  for (int number : {1, 2, 3}) EXPECT_TRUE(is_there(number)) << number;
  EXPECT_EQ(follower.counts().complete, 3u);
  EXPECT_GT(follower.counts().rows, 600u - 1);
  EXPECT_GT(follower.counts().acknowledged_wall_ns, 0);

  const int posts = server_.posts();
  EXPECT_EQ(Follower(drains).run(), End::Drained);
  EXPECT_EQ(server_.posts(), posts) << "its memory is the server's";
}

TEST_F(FollowerTest, FollowsSessionsThatBeginGrowAndEnd) {
  Follower follower(options());
  std::thread thread([&] { EXPECT_EQ(follower.run(), End::Stopped); });
  auto first = begin(1);
  write(*first, 0);
  EXPECT_TRUE(eventually([&] { return follower.counts().live == 1; }));
  auto second = begin(2);
  for (int part = 1; part < 20; ++part) {
    write(*first, part);
    write(*second, part);
  }
  EXPECT_TRUE(first->close(99'000, {}));
  EXPECT_TRUE(second->close(99'000, {}));
  EXPECT_TRUE(eventually([&] { return follower.counts().complete == 2; }));
  is_stopped_ = true;
  thread.join();
  EXPECT_TRUE(is_there(1));
  EXPECT_TRUE(is_there(2));
  EXPECT_EQ(follower.counts().set_aside, 0u);
}

// Another agent, which is killed and comes back, on the same folder.
TEST_F(FollowerTest, TwoOnOneFolderLoseAndDoubleNothing) {
  std::atomic<bool> is_killed{false};
  FollowOptions others = options();
  others.is_stopped = [&] { return is_stopped_ || is_killed; };
  Follower steady(options());
  std::thread thread([&] { steady.run(); });
  std::thread other([&] {
    while (!is_stopped_) {
      is_killed = false;
      Follower(others).run();
    }
  });
  auto writer = begin(1);
  for (int part = 0; part < 30; ++part) {
    write(*writer, part);
    if (part % 5 == 0) is_killed = true;
  }
  EXPECT_TRUE(writer->close(99'000, {}));
  EXPECT_TRUE(eventually([&] { return steady.counts().complete == 1; }));
  is_stopped_ = true;
  thread.join();
  other.join();
  EXPECT_TRUE(is_there(1));
  EXPECT_EQ(steady.counts().set_aside, 0u);
}

TEST_F(FollowerTest, ABadSessionHoldsUpNoOther) {
  for (int number : {1, 2}) record(number);
  server_.be_mischievous([&](const net::HttpRequest& request, Session&) {
    const bool is_hit = request.query_value("session") == id_of(1);
    return is_hit ? std::optional(net::problem(422, "damaged")) : std::nullopt;
  });
  FollowOptions drains = options();
  drains.drains = true;
  std::vector<std::string> said;
  drains.say = [&](std::string_view text) { said.emplace_back(text); };
  Follower follower(drains);
  EXPECT_EQ(follower.run(), End::Incomplete);
  EXPECT_TRUE(is_there(2));
  EXPECT_EQ(follower.counts().complete, 1u);
  EXPECT_EQ(follower.counts().set_aside, said.size());
  EXPECT_GT(said.size(), 1u);
}

TEST_F(FollowerTest, DeletesWhatTheServerHasConfirmedAndNothingElse) {
  record(1);
  record(2);
  auto live = begin(3);
  server_.be_mischievous([&](const net::HttpRequest& request, Session&) {
    const bool is_hit =
        request.query_value("session") == id_of(2) && request.query_value("kind") == "window";
    return is_hit ? std::optional(net::problem(422, "damaged")) : std::nullopt;
  });
  FollowOptions deletes = options();
  deletes.delete_after = 0s;
  deletes.delete_session = [](const fs::path& dir) { fs::remove_all(dir); };
  Follower follower(deletes);
  std::thread thread([&] { follower.run(); });
  EXPECT_TRUE(eventually(
      [&] { return follower.counts().deleted == 1 && follower.counts().set_aside > 0; }));
  is_stopped_ = true;
  thread.join();
  EXPECT_FALSE(fs::exists(logs_ / "run" / id_of(1)));
  EXPECT_TRUE(fs::exists(logs_ / "run" / id_of(2)));
  EXPECT_TRUE(fs::exists(logs_ / "run" / id_of(3)));
  EXPECT_TRUE(live->close(9000, {}));
}

TEST_F(FollowerTest, KeepsWhatTheServerHasLostSince) {
  record(1);
  FollowOptions deletes = options();
  deletes.drains = true;
  EXPECT_EQ(Follower(deletes).run(), End::Drained);
  deletes.delete_after = 0s;
  deletes.delete_session = [](const fs::path& dir) { fs::remove_all(dir); };
  int asked = 0;
  server_.be_mischievous([&](const net::HttpRequest& request, Session& session) {
    // It says yes once, and is restored from a backup then.
    if (request.method == "GET" && ++asked == 2) session.windows.clear();
    return request.method == "POST" ? std::optional(net::problem(503)) : std::nullopt;
  });
  std::atomic<bool> has_asked{false};
  deletes.drains = false;
  deletes.say = [&](std::string_view) { has_asked = true; };
  Follower follower(deletes);
  std::thread thread([&] { follower.run(); });
  EXPECT_TRUE(eventually([&] { return has_asked.load() || follower.counts().deleted > 0; }));
  is_stopped_ = true;
  thread.join();
  EXPECT_TRUE(fs::exists(logs_ / "run" / id_of(1)));
}

TEST_F(FollowerTest, TakesANewKeyFromItsFile) {
  record(1);
  FollowOptions keyed = options();
  keyed.server.api_key.clear();
  keyed.key_file = dir_.path() / "key";
  write_text(keyed.key_file, make_key('2') + "\n");
  std::atomic<bool> was_denied{false};
  keyed.say = [&](std::string_view) { was_denied = true; };
  Follower follower(keyed);
  std::thread thread([&] { follower.run(); });
  EXPECT_TRUE(eventually([&] { return was_denied && follower.counts().is_denied; }));
  write_text(keyed.key_file, make_key() + "\n");
  EXPECT_TRUE(eventually([&] { return follower.counts().complete == 1; }));
  EXPECT_FALSE(follower.counts().is_denied);
  is_stopped_ = true;
  thread.join();
}

TEST_F(FollowerTest, TakesNoOtherKeyThanThatOfItsFile) {
  record(1);
  FollowOptions keyed = options();
  keyed.server.api_key.clear();
  keyed.variables = [](const std::string& name) {
    return name == "GPUFL_API_KEY" ? make_key() : std::string();
  };
  keyed.key_file = dir_.path() / "key";
  keyed.drains = true;
  std::vector<std::string> said;
  keyed.say = [&](std::string_view text) { said.emplace_back(text); };
  EXPECT_EQ(Follower(keyed).run(), End::Incomplete);
  write_text(keyed.key_file, "\n");
  EXPECT_EQ(Follower(keyed).run(), End::Incomplete);
  const std::string file = keyed.key_file.string();
  EXPECT_EQ(said, (std::vector<std::string>{
                      "cannot open the key file " + file + ": No such file or directory",
                      "there is no key in " + file}));
  EXPECT_EQ(server_.requests(), 0);
}

TEST_F(FollowerTest, FollowsNoLink) {
  record(1);
  fs::rename(logs_ / "run" / id_of(1), dir_.path() / "outside");
  fs::create_directory_symlink(dir_.path() / "outside", logs_ / "run" / id_of(1));
  FollowOptions drains = options();
  drains.drains = true;
  Follower follower(drains);
  EXPECT_EQ(follower.run(), End::Drained);
  EXPECT_EQ(server_.posts(), 0);
}

}  // namespace
}  // namespace gpufl::agent
