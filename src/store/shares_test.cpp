// SPDX-License-Identifier: Apache-2.0
#include "store/share.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/temp_dir.hpp"
#include "store/folder_lock.hpp"
#include "store/people.hpp"
#include "store/sqlite_catalogue.hpp"

namespace gpufl::store {
namespace {

using base::Code;

constexpr int64_t kHour_ms = int64_t{3600} * 1000;

class SharesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    people_ = open();
    auto catalogue = SqliteCatalogue::open(catalogue_file(folder_.path()));
    ASSERT_TRUE(catalogue) << catalogue.status().text();
    catalogue_ = std::move(*catalogue);
    workspace_ = *people_->add_workspace("lab");
    ada_ = *people_->add_user("ada");
    ASSERT_TRUE(people_->set_role(ada_, workspace_, Role::Member));
    session_ = *catalogue_->add_session(workspace_, "s1");
    now_ = base::wall_ns() / 1'000'000;
  }
  std::unique_ptr<People> open() {
    auto opened = People::open(catalogue_file(folder_.path()));
    EXPECT_TRUE(opened) << opened.status().text();
    return std::move(*opened);
  }
  Share wanted() const {
    Share share;
    share.workspace = workspace_;
    share.session = "s1";
    share.made_by = "ada";
    share.expires_ms = now_ + kHour_ms;
    return share;
  }
  People::NewShare add() {
    EXPECT_TRUE(people_->set_sharing(workspace_, true));
    auto made = people_->add_share(wanted());
    EXPECT_TRUE(made) << made.status().text();
    return *made;
  }
  bool counts(const People::NewShare& share, int64_t later_ms = 0) {
    EXPECT_TRUE(people_->refresh());
    const DirectoryPtr directory = people_->directory();
    const int64_t at = now_ + later_ms;
    const bool by_token = directory->share_by_token(share.token, at) != nullptr;
    const std::string cookie = share_cookie(share.token);
    EXPECT_EQ(directory->share_by_cookie(share.id, cookie, at) != nullptr, by_token);
    EXPECT_EQ(directory->share_named(share.id, at) != nullptr, by_token);
    return by_token;
  }

  base::TempDir folder_;
  std::unique_ptr<People> people_;
  std::unique_ptr<SqliteCatalogue> catalogue_;
  int64_t workspace_ = 0, ada_ = 0, session_ = 0, now_ = 0;
};

TEST_F(SharesTest, ThereAreNoneUntilSomebodyTurnsThemOn) {
  EXPECT_EQ(people_->add_share(wanted()).status().code(), Code::PermissionDenied);
  const People::NewShare share = add();
  EXPECT_TRUE(counts(share));
  EXPECT_TRUE(people_->set_sharing(workspace_, false));
  EXPECT_FALSE(counts(share));
  EXPECT_TRUE(people_->set_sharing(workspace_, true));
  EXPECT_FALSE(counts(share)) << "what has ended stays so";
}

TEST_F(SharesTest, OnlyTheRightTokenAndItsCookieCount) {
  const People::NewShare share = add();
  const People::NewShare other = add();
  EXPECT_EQ(share_of_token(share.token), share.id);
  const DirectoryPtr directory = people_->directory();
  std::string wrong = share.token;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  std::string mixed = other.token;
  mixed.replace(5, share.id.size(), share.id);
  for (const std::string& token :
       {wrong, mixed, std::string(), share.id, share.token + "0", "gpfl_" + share.token.substr(5),
        share_cookie(share.token), hash_secret(share.token)}) {
    EXPECT_EQ(directory->share_by_token(token, now_), nullptr) << token;
  }
  for (const std::string& cookie :
       {std::string(), share.token, share_cookie(other.token), share_cookie(wrong)}) {
    EXPECT_EQ(directory->share_by_cookie(share.id, cookie, now_), nullptr) << cookie;
  }
  // Neither is what the file has.
  const Share& kept = directory->shares.at(share.id);
  EXPECT_NE(kept.token_hash, share.token);
  EXPECT_NE(kept.cookie_hash, share_cookie(share.token));
  EXPECT_EQ(directory->share_by_cookie(share.id, kept.cookie_hash, now_), nullptr);
}

TEST_F(SharesTest, ALinkEndsWithItsTimeAndWhenSomebodySaysSo) {
  const People::NewShare share = add();
  EXPECT_TRUE(counts(share, kHour_ms - 1));
  EXPECT_FALSE(counts(share, kHour_ms));
  const int64_t other = *people_->add_workspace("other");
  EXPECT_EQ(people_->revoke_share(other, share.id).code(), Code::NotFound);
  EXPECT_TRUE(counts(share));
  EXPECT_TRUE(open()->revoke_share(workspace_, share.id)) << "as another program does";
  EXPECT_FALSE(counts(share));
}

TEST_F(SharesTest, ALinkEndsWithTheRightsOfItsMaker) {
  const People::NewShare share = add();
  ASSERT_TRUE(people_->set_role(ada_, workspace_, Role::Viewer));
  EXPECT_FALSE(counts(share));
  ASSERT_TRUE(people_->set_role(ada_, workspace_, Role::Member));
  EXPECT_TRUE(counts(share));
  ASSERT_TRUE(people_->set_role(ada_, workspace_, std::nullopt));
  EXPECT_FALSE(counts(share));
  ASSERT_TRUE(people_->set_role(ada_, workspace_, Role::Admin));
  ASSERT_TRUE(people_->set_disabled(ada_, true));
  EXPECT_FALSE(counts(share));
}

TEST_F(SharesTest, ALinkEndsWithItsSession) {
  const People::NewShare share = add();
  ASSERT_TRUE(catalogue_->set_deleted(session_, true));
  EXPECT_FALSE(counts(share));
  ASSERT_TRUE(catalogue_->set_deleted(session_, false));
  EXPECT_FALSE(counts(share)) << "restoring the session makes nothing public again";
  const People::NewShare again = add();
  EXPECT_TRUE(counts(again));
  ASSERT_TRUE(catalogue_->purge(session_)) << "as retention does";
  EXPECT_FALSE(counts(again));
  EXPECT_EQ(people_->add_share(wanted()).status().code(), Code::NotFound);
  Share absent = wanted();
  absent.session = "s2";
  EXPECT_EQ(people_->add_share(absent).status().code(), Code::NotFound);
}

TEST_F(SharesTest, ACopyOfTheStoreHasNoLinksThatCount) {
  const People::NewShare share = add();
  ASSERT_TRUE(catalogue_->renew_generation());
  EXPECT_FALSE(counts(share));
}

TEST_F(SharesTest, ThereAreNoMoreThanAWorkspaceMayHave) {
  const People::NewShare first = add();
  for (size_t i = 1; i < Share::kMostOfWorkspace; ++i) ASSERT_TRUE(people_->add_share(wanted()));
  EXPECT_EQ(people_->add_share(wanted()).status().code(), Code::LimitReached);
  EXPECT_TRUE(people_->revoke_share(workspace_, first.id));
  EXPECT_TRUE(people_->add_share(wanted()));
  const int64_t other = *people_->add_workspace("other");
  ASSERT_TRUE(people_->set_sharing(other, true));
  ASSERT_TRUE(catalogue_->add_session(other, "s1"));
  Share elsewhere = wanted();
  elsewhere.workspace = other;
  EXPECT_TRUE(people_->add_share(elsewhere));
}

TEST_F(SharesTest, OfThoseThatEndedTheListHasTheLatest) {
  std::set<std::string> ended;
  for (int64_t i = 0; i < Share::kMostEnded + 10; ++i) {
    const People::NewShare share = add();
    ASSERT_TRUE(people_->revoke_share(workspace_, share.id));
    ended.insert(share.id);
  }
  const People::NewShare last = add();
  const DirectoryPtr directory = people_->directory();
  EXPECT_EQ(directory->shares.size(), static_cast<size_t>(Share::kMostEnded) + 1);
  EXPECT_TRUE(directory->shares.contains(last.id));
}

TEST_F(SharesTest, WhenALinkWasUsedIsKept) {
  const People::NewShare share = add();
  ASSERT_TRUE(people_->note_share_uses({{share.id, now_}, {"absent", now_}}));
  EXPECT_EQ(people_->directory()->shares.at(share.id).last_used_ms, now_);
  EXPECT_EQ(open()->directory()->shares.at(share.id).last_used_ms, now_);
}

}  // namespace
}  // namespace gpufl::store
