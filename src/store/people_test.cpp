// SPDX-License-Identifier: Apache-2.0
#include "store/people.hpp"

#include <gtest/gtest.h>

#include "base/temp_dir.hpp"
#include "format/test_session.hpp"
#include "store/folder_lock.hpp"
#include "store/password.hpp"

namespace gpufl::store {
namespace {

using base::Code;

constexpr int64_t kNow = 1'000'000;
constexpr int64_t kLater = int64_t{1} << 50;

class PeopleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    people_ = open();
    workspace_ = *people_->add_workspace("lab");
    user_ = *people_->add_user("ada");
  }
  std::unique_ptr<People> open() {
    auto opened = People::open(catalogue_file(folder_.path()));
    EXPECT_TRUE(opened) << opened.status().text();
    return opened ? std::move(*opened) : nullptr;
  }
  People::NewKey add_key(Scope scope, int64_t expires_ms = 0) {
    ApiKey key;
    key.workspace = workspace_;
    key.label = "node 1";
    key.scope = scope;
    key.made_by = "ada";
    key.expires_ms = expires_ms;
    return *people_->add_key(key);
  }

  base::TempDir folder_;
  std::unique_ptr<People> people_;
  int64_t workspace_ = 0, user_ = 0;
};

TEST_F(PeopleTest, AKeyCountsUntilItExpiresOrIsRevoked) {
  const People::NewKey forever = add_key(Scope::Ingest);
  const People::NewKey short_lived = add_key(Scope::Read, kNow);
  EXPECT_TRUE(is_key_text(forever.text)) << forever.text;
  const ApiKey* found = people_->directory()->key_of(forever.text, kNow);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->scope, Scope::Ingest);
  EXPECT_EQ(found->workspace, workspace_);
  EXPECT_NE(people_->directory()->key_of(short_lived.text, kNow - 1), nullptr);
  EXPECT_EQ(people_->directory()->key_of(short_lived.text, kNow), nullptr);
  EXPECT_EQ(people_->revoke_key(workspace_ + 1, forever.id).code(), Code::NotFound);
  EXPECT_NE(people_->directory()->key_of(forever.text, kNow), nullptr);
  ASSERT_TRUE(people_->revoke_key(workspace_, forever.id));
  EXPECT_EQ(people_->directory()->key_of(forever.text, kNow), nullptr);
}

TEST_F(PeopleTest, ASlipOfThePenIsNoKey) {
  const std::string text = add_key(Scope::Read).text;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = other[i] == '7' ? '8' : '7';
    EXPECT_FALSE(is_key_text(other)) << i;
  }
  EXPECT_FALSE(is_key_text(text + "0"));
  EXPECT_FALSE(is_key_text(""));
}

TEST_F(PeopleTest, NoSecretIsInTheFile) {
  const std::string key = add_key(Scope::Read).text;
  ASSERT_TRUE(people_->set_password(user_, "correct horse battery"));
  const std::string cookie = *people_->log_in(user_, kLater);
  const std::string link = *people_->invite(user_, kLater);
  people_.reset();
  std::string bytes;
  for (const std::string& name : format::testing::file_names(folder_.path())) {
    bytes += format::testing::read_text(folder_.path() / name);
  }
  EXPECT_NE(bytes.find("node 1"), std::string::npos);
  for (const std::string& secret :
       {key, key.substr(5), cookie, link, std::string("correct horse battery")}) {
    EXPECT_EQ(bytes.find(secret), std::string::npos) << secret;
  }
}

TEST_F(PeopleTest, ALoginEndsByTimeByItselfAndWithThePassword) {
  ASSERT_TRUE(people_->set_password(user_, "correct horse battery"));
  EXPECT_TRUE(
      is_password("correct horse battery", people_->directory()->user_named("ada")->password));
  const std::string cookie = *people_->log_in(user_, kLater);
  EXPECT_NE(people_->directory()->user_of(cookie, kNow), nullptr);
  EXPECT_EQ(people_->directory()->user_of(cookie, kLater), nullptr);
  EXPECT_EQ(people_->directory()->user_of(cookie + "0", kNow), nullptr);
  ASSERT_TRUE(people_->set_disabled(user_, true));
  EXPECT_EQ(people_->directory()->user_of(cookie, kNow), nullptr);
  ASSERT_TRUE(people_->set_disabled(user_, false));
  ASSERT_TRUE(people_->log_out(cookie));
  EXPECT_EQ(people_->directory()->user_of(cookie, kNow), nullptr);
  const std::string other = *people_->log_in(user_, kLater);
  ASSERT_TRUE(people_->set_password(user_, "another long password"));
  EXPECT_EQ(people_->directory()->user_of(other, kNow), nullptr);
  EXPECT_EQ(people_->set_password(user_, "short").code(), Code::InvalidArgument);
}

TEST_F(PeopleTest, ALinkSetsAPasswordOnce) {
  const std::string first = *people_->invite(user_, kLater);
  const std::string link = *people_->invite(user_, kLater);
  EXPECT_EQ(*people_->take_invitation(first, kNow), std::nullopt) << "a later one replaces it";
  EXPECT_EQ(*people_->take_invitation(link, kLater), std::nullopt) << "it has expired";
  EXPECT_EQ(*people_->take_invitation(link, kNow), user_);
  EXPECT_EQ(*people_->take_invitation(link, kNow), std::nullopt);
}

TEST_F(PeopleTest, WhatAnotherProgramChangesIsSeen) {
  const auto other = open();
  EXPECT_FALSE(people_->directory()->has_admin());
  ASSERT_TRUE(other->set_password(user_, "correct horse battery"));
  ASSERT_TRUE(other->set_role(user_, workspace_, Role::Admin));
  EXPECT_FALSE(people_->directory()->has_admin());
  ASSERT_TRUE(people_->refresh());
  EXPECT_TRUE(people_->directory()->has_admin());
  EXPECT_EQ(people_->directory()->user_named("ada")->role_in(workspace_), Role::Admin);
  EXPECT_EQ(people_->directory()->user_named("ada")->role_in(workspace_ + 1), std::nullopt);
  ASSERT_TRUE(other->set_role(user_, workspace_, std::nullopt));
  ASSERT_TRUE(people_->refresh());
  EXPECT_FALSE(people_->directory()->has_admin());
}

TEST_F(PeopleTest, NamesAreCheckedAndUnique) {
  for (const char* name : {"", "Lab", "a/b", "..", "-a", "a b", "ä"}) {
    EXPECT_EQ(people_->add_workspace(name).status().code(), Code::InvalidArgument) << name;
  }
  EXPECT_EQ(people_->add_workspace("lab").status().code(), Code::InvalidArgument);
  for (const char* name : {"", "a b", "a\n", "ada"}) {
    EXPECT_EQ(people_->add_user(name).status().code(), Code::InvalidArgument) << name;
  }
}

TEST_F(PeopleTest, TheAuditLogIsOfAWorkspaceAndOfAll) {
  ASSERT_TRUE(people_->audit(workspace_, "ada", "key made", "node 1"));
  ASSERT_TRUE(people_->audit(workspace_ + 1, "bob", "key made", "node 2"));
  ASSERT_TRUE(people_->audit(0, "ada", "logged in", ""));
  const auto log = people_->audit_log(workspace_, 10);
  ASSERT_TRUE(log);
  ASSERT_EQ(log->size(), 1U);
  EXPECT_EQ((*log)[0].subject, "node 1");
  const auto all = people_->audit_log(0, 2);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[0].action, "logged in");
}

TEST(PasswordTest, IsSaltedAndChecked) {
  const std::string hash = hash_password("secret enough");
  EXPECT_NE(hash, hash_password("secret enough"));
  EXPECT_TRUE(is_password("secret enough", hash));
  EXPECT_FALSE(is_password("secret enougH", hash));
  EXPECT_FALSE(is_password("", hash));
  for (const char* other : {"", "scrypt$15$8$1$", "scrypt$15$8$1$ab$", "plain"}) {
    EXPECT_FALSE(is_password("", other)) << other;
  }
}

TEST(FolderLockTest, OneServerAtATime) {
  const base::TempDir folder;
  auto first = FolderLock::take(folder.path() / "data");
  ASSERT_TRUE(first);
  EXPECT_EQ(FolderLock::take(folder.path() / "data").status().code(), Code::Unavailable);
  first->reset();
  EXPECT_TRUE(FolderLock::take(folder.path() / "data"));
}

}  // namespace
}  // namespace gpufl::store
