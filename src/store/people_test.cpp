// SPDX-License-Identifier: Apache-2.0
#include "store/people.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/shadow_memory.hpp"
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
  ASSERT_TRUE(people_->set_role(user_, workspace_, Role::Member));
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

TEST_F(PeopleTest, AWorkspaceHasSoManyKeysAndNoMore) {
  ASSERT_TRUE(people_->set_role(user_, workspace_, Role::Member));
  auto database =
      sqlite::Database::open(catalogue_file(folder_.path()), sqlite::Database::Mode::Durable);
  ASSERT_TRUE(database);
  const auto fill = [&](int64_t keys, int64_t is_revoked) {
    ASSERT_TRUE((*database)->run(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) INSERT INTO "
        "keys (workspace, hash, label, scope, made_by, created_ms, expires_ms, is_revoked) SELECT "
        "?2, i || '.' || ?3, 'x', 0, 'ada', 0, 0, ?3 FROM n",
        {keys, workspace_, is_revoked}));
  };
  fill(ApiKey::kMostEnded + 5, 1);
  fill(ApiKey::kMostOfWorkspace - 1, 0);
  const People::NewKey last = add_key(Scope::Read);
  const auto keys = [&] { return static_cast<int64_t>(people_->directory()->keys.size()); };
  EXPECT_EQ(keys(), ApiKey::kMostEnded + ApiKey::kMostOfWorkspace);
  ApiKey more;
  more.workspace = workspace_;
  more.made_by = "ada";
  EXPECT_EQ(people_->add_key(more).status().code(), Code::LimitReached);
  EXPECT_NE(people_->directory()->key_of(last.text, kNow), nullptr);
  ASSERT_TRUE(people_->revoke_key(workspace_, last.id));
  EXPECT_TRUE(people_->add_key(more));
}

TEST_F(PeopleTest, AUserHasSoManyLoginsAndTheOldestEnds) {
  const int64_t other = *people_->add_user("bob");
  const std::string others = *people_->log_in(other, kLater);
  const std::string first = *people_->log_in(user_, kLater);
  std::string last;
  for (int64_t i = 1; i <= Login::kMostOfUser; ++i) last = *people_->log_in(user_, kLater + i);
  const DirectoryPtr directory = people_->directory();
  EXPECT_EQ(directory->user_of(first, kNow), nullptr);
  EXPECT_NE(directory->user_of(last, kNow), nullptr);
  EXPECT_NE(directory->user_of(others, kNow), nullptr);
  EXPECT_EQ(static_cast<int64_t>(directory->logins.size()), Login::kMostOfUser + 1);
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
      *is_password("correct horse battery", people_->directory()->user_named("ada")->password));
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
  const auto take = [&](const std::string& secret, int64_t now) {
    const auto taken = people_->take_invitation(secret, "correct horse battery", now);
    EXPECT_TRUE(taken) << taken.status().text();
    return taken && *taken ? (*taken)->user : 0;
  };
  EXPECT_EQ(take(first, kNow), 0) << "a later one replaces it";
  EXPECT_EQ(take(link, kLater), 0) << "it has expired";
  EXPECT_EQ(people_->take_invitation(link, "short", kNow).status().code(), Code::InvalidArgument);
  EXPECT_EQ(take(link, kNow), user_) << "a password that was refused has not used it up";
  EXPECT_EQ(take(link, kNow), 0);
  EXPECT_TRUE(
      *is_password("correct horse battery", people_->directory()->user_named("ada")->password));
  EXPECT_TRUE(people_->directory()->user_named("ada")->roles.empty());
}

TEST_F(PeopleTest, APasswordThatCannotBeKeptLeavesTheLink) {
  const std::string link = *people_->invite(user_, kLater);
  const auto other =
      sqlite::Database::open(catalogue_file(folder_.path()), sqlite::Database::Mode::Durable);
  ASSERT_TRUE(other);
  ASSERT_TRUE((*other)->run_script(
      "CREATE TRIGGER no_room BEFORE UPDATE OF password ON users BEGIN SELECT RAISE(ABORT, 'no "
      "room'); END"));
  EXPECT_FALSE(people_->take_invitation(link, "correct horse battery", kNow));
  ASSERT_TRUE((*other)->run_script("DROP TRIGGER no_room"));
  const auto taken = people_->take_invitation(link, "correct horse battery", kNow);
  ASSERT_TRUE(taken && *taken);
  EXPECT_EQ((*taken)->user, user_);
}

TEST_F(PeopleTest, AFirstLinkMakesAnAdminWhenItIsTaken) {
  const int64_t second = *people_->add_workspace("second");
  const std::string link = *people_->invite(user_, kLater, true);
  EXPECT_TRUE(people_->directory()->user_named("ada")->roles.empty());
  const auto taken = people_->take_invitation(link, "correct horse battery", kNow);
  ASSERT_TRUE(taken && *taken);
  EXPECT_TRUE((*taken)->is_made_admin);
  const User* user = people_->directory()->user_named("ada");
  EXPECT_EQ(user->role_in(workspace_), Role::Admin);
  EXPECT_EQ(user->role_in(second), Role::Admin);
}

TEST_F(PeopleTest, AKeyEndsWithItsMaker) {
  ASSERT_TRUE(people_->set_role(user_, workspace_, Role::Member));
  const std::string key = add_key(Scope::Read).text;
  const auto counts = [&] { return people_->directory()->key_of(key, kNow) != nullptr; };
  EXPECT_TRUE(counts());
  ASSERT_TRUE(people_->set_disabled(user_, true));
  EXPECT_FALSE(counts());
  ASSERT_TRUE(people_->set_disabled(user_, false));
  EXPECT_TRUE(counts());
  ASSERT_TRUE(people_->set_role(user_, workspace_, Role::Viewer));
  EXPECT_FALSE(counts()) << "a viewer could not make it";
  ASSERT_TRUE(people_->set_role(user_, workspace_, std::nullopt));
  EXPECT_FALSE(counts());
}

TEST_F(PeopleTest, AnIdentityIsOneUsers) {
  const int64_t other = *people_->add_user("bob");
  const Identity identity{"https://id.example", "248289761001"};
  ASSERT_TRUE(people_->link(user_, identity));
  ASSERT_TRUE(people_->link(user_, identity));
  EXPECT_EQ(people_->link(other, identity).code(), Code::InvalidArgument);
  EXPECT_EQ(people_->directory()->user_with(identity), user_);
  EXPECT_EQ(people_->directory()->user_with({"https://id.example/", identity.subject}),
            std::nullopt);
  EXPECT_EQ(people_->directory()->user_with({identity.issuer, "24828976100"}), std::nullopt);
  const std::string cookie = *people_->log_in(user_, kLater);
  ASSERT_TRUE(people_->unlink(user_));
  EXPECT_EQ(people_->directory()->user_with(identity), std::nullopt);
  EXPECT_EQ(people_->directory()->user_of(cookie, kNow), nullptr);
  EXPECT_EQ(people_->link(user_, {"", "x"}).code(), Code::InvalidArgument);
  EXPECT_EQ(people_->link(user_, {"https://id.example", ""}).code(), Code::InvalidArgument);
  EXPECT_EQ(people_->link(user_, {"https://id.example", std::string(256, 'x')}).code(),
            Code::InvalidArgument);
}

TEST_F(PeopleTest, WhoIsExpectedIsLinkedOnce) {
  const int64_t other = *people_->add_user("bob");
  ASSERT_TRUE(people_->expect(user_, Claim::Email, "Ada@Example.org"));
  ASSERT_TRUE(people_->expect(user_, Claim::Username, "ada"));
  EXPECT_EQ(people_->expect(other, Claim::Email, "ada@example.ORG").code(), Code::InvalidArgument);
  ASSERT_TRUE(people_->expect(other, Claim::Username, "Ada")) << "names are as they are written";
  for (const char* wrong : {"", "ada", "@example.org", "ada@", "a da@example.org", "a\n@b"}) {
    EXPECT_EQ(people_->expect(other, Claim::Email, wrong).code(), Code::InvalidArgument) << wrong;
  }
  EXPECT_EQ(people_->directory()->expected_user(Claim::Email, "ADA@example.org"), user_);
  const Identity identity{"https://id.example", "1"};
  EXPECT_FALSE(*people_->meet(identity, Claim::Email, "eve@example.org"));
  EXPECT_TRUE(*people_->meet(identity, Claim::Email, "ADA@example.org"));
  EXPECT_EQ(people_->directory()->user_with(identity), user_);
  EXPECT_EQ(people_->directory()->expected_user(Claim::Email, "ada@example.org"), std::nullopt);
  EXPECT_EQ(people_->directory()->expected_user(Claim::Username, "ada"), std::nullopt)
      << "who has come is expected no more";
  EXPECT_FALSE(*people_->meet({"https://id.example", "2"}, Claim::Username, "ada"));
  EXPECT_EQ(people_->directory()->expected_user(Claim::Username, "Ada"), other);
}

TEST_F(PeopleTest, AnAdminOfAProviderCanLogIn) {
  ASSERT_TRUE(people_->set_role(user_, workspace_, Role::Admin));
  EXPECT_FALSE(people_->directory()->has_admin("https://id.example"));
  ASSERT_TRUE(people_->expect(user_, Claim::Email, "ada@example.org"));
  EXPECT_TRUE(people_->directory()->has_admin("https://id.example"));
  EXPECT_FALSE(people_->directory()->has_admin());
  ASSERT_TRUE(*people_->meet({"https://id.example", "1"}, Claim::Email, "ada@example.org"));
  EXPECT_TRUE(people_->directory()->has_admin("https://id.example"));
  EXPECT_FALSE(people_->directory()->has_admin("https://other.example"));
}

TEST_F(PeopleTest, OnlyWhatIsOfPeopleIsReadAgain) {
  const auto other = open();
  const auto file =
      sqlite::Database::open(catalogue_file(folder_.path()), sqlite::Database::Mode::Durable);
  ASSERT_TRUE(file);
  ASSERT_TRUE(people_->refresh());
  const DirectoryPtr before = people_->directory();
  ASSERT_TRUE((*file)->run("INSERT INTO sessions (workspace, name, arrived_ms) VALUES (?, 'x', 1)",
                           {workspace_}));
  ASSERT_TRUE(other->audit(workspace_, "ada", "logged in", ""));
  ASSERT_TRUE(people_->refresh());
  EXPECT_EQ(people_->directory(), before) << "a session that arrives is nothing of people";
  const std::string cookie = *other->log_in(user_, kLater);
  EXPECT_NE(other->directory()->user_of(cookie, kNow), nullptr);
  ASSERT_TRUE(people_->refresh());
  EXPECT_NE(people_->directory(), before);
  EXPECT_NE(people_->directory()->user_of(cookie, kNow), nullptr);
}

// A login adds to what is known without reading it all: what others changed before is not lost.
TEST_F(PeopleTest, ALoginAfterAnothersChangeSeesBoth) {
  const auto other = open();
  const int64_t bob = *other->add_user("bob");
  const std::string cookie = *people_->log_in(user_, kLater);
  EXPECT_NE(people_->directory()->user_of(cookie, kNow), nullptr);
  const User* found = people_->directory()->user_named("bob");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->id, bob);
}

TEST_F(PeopleTest, TheAuditLogIsBounded) {
  const auto bounded = People::open(catalogue_file(folder_.path()), Schema::Update, 5);
  ASSERT_TRUE(bounded);
  ASSERT_TRUE((*bounded)->audit(workspace_ + 1, "eve", "key made", "hers"));
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE((*bounded)->audit(workspace_, "ada", "key made", std::to_string(i)));
  }
  const auto log = (*bounded)->audit_log(workspace_, 100);
  ASSERT_TRUE(log);
  ASSERT_EQ(log->size(), 5U);
  EXPECT_EQ(log->front().subject, "11");
  EXPECT_EQ(log->back().subject, "7");
  EXPECT_EQ((*bounded)->audit_log(workspace_ + 1, 100)->size(), 1U) << "of another workspace";
}

// As it was before there were identities.
// Somebody may have logged out since it was made, or set a password by the link.
TEST_F(PeopleTest, InACopyOfTheStoreEverybodyLogsInAgain) {
  ASSERT_TRUE(people_->set_password(user_, "correct horse battery"));
  const std::string login = *people_->log_in(user_, kLater);
  const std::string link = *people_->invite(user_, kLater);
  auto catalogue = SqliteCatalogue::open(catalogue_file(folder_.path()));
  ASSERT_TRUE(catalogue && (*catalogue)->renew_generation());
  ASSERT_TRUE(people_->refresh());
  EXPECT_EQ(people_->directory()->user_of(login, kNow), nullptr);
  EXPECT_FALSE(*people_->take_invitation(link, "another horse battery", kNow));
  EXPECT_FALSE(people_->directory()->user_named("ada")->password.empty());
}

TEST(PeopleSchemaTest, AnOlderStoreIsBroughtUpToDate) {
  const base::TempDir folder;
  const auto file = catalogue_file(folder.path());
  {
    auto people = People::open(file);
    ASSERT_TRUE(people);
    const int64_t user = *(*people)->add_user("ada");
    ASSERT_TRUE((*people)->set_password(user, "correct horse battery"));
  }
  {
    const auto older = sqlite::Database::open(file, sqlite::Database::Mode::Durable);
    ASSERT_TRUE(older);
    std::vector<std::string> triggers;
    ASSERT_TRUE((*older)->query("SELECT name FROM sqlite_master WHERE type = 'trigger'", {},
                                [&](const auto& row) { triggers.emplace_back(row.text(0)); }));
    EXPECT_EQ(triggers.size(), 30U);
    std::string script;
    for (const std::string& name : triggers) script += "DROP TRIGGER " + name + ";";
    script +=
        "DROP TABLE shares; DROP TABLE sharing; DROP TABLE identities; DROP TABLE "
        "expected_identities; DROP TABLE directory_number;"
        "ALTER TABLE invitations DROP COLUMN makes_admin;"
        "UPDATE schema_version SET version = 1 WHERE part = 'people'";
    ASSERT_TRUE((*older)->run_script(script.c_str()));
  }
  auto people = People::open(file);
  ASSERT_TRUE(people) << people.status().text();
  const DirectoryPtr directory = (*people)->directory();
  const User* user = directory->user_named("ada");
  ASSERT_NE(user, nullptr);
  EXPECT_TRUE((*people)->invite(user->id, kLater));
  EXPECT_TRUE((*people)->link(user->id, {"https://id.example", "1"}));
}

// As `gpufl admin` does where the folder's name leads by a link.
TEST(PeopleFileTest, AFolderMayBeReachedByALink) {
  const base::TempDir folder;
  std::filesystem::create_directory(folder.path() / "disk");
  std::filesystem::create_directory_symlink(folder.path() / "disk", folder.path() / "data");
  EXPECT_TRUE(People::open(catalogue_file(folder.path() / "data")));
  std::filesystem::create_directory(folder.path() / "other");
  std::filesystem::create_symlink(catalogue_file(folder.path() / "disk"),
                                  catalogue_file(folder.path() / "other"));
  EXPECT_FALSE(People::open(catalogue_file(folder.path() / "other"))) << "the file may be none";
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
  const std::string hash = *hash_password("secret enough");
  EXPECT_NE(hash, *hash_password("secret enough"));
  EXPECT_TRUE(*is_password("secret enough", hash));
  EXPECT_FALSE(*is_password("secret enougH", hash));
  EXPECT_FALSE(*is_password("", hash));
  for (const char* other : {"", "scrypt$15$8$1$", "scrypt$15$8$1$ab$", "plain"}) {
    EXPECT_FALSE(*is_password("", other)) << other;
  }
}

#ifndef GPUFL_HAS_SHADOW_MEMORY
// Run by the one below, in a process that has allocated nothing large before.
TEST(PasswordTest, DISABLED_InAProcessThatGetsNoMemory) {
  const std::string hash = *hash_password("secret enough");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit none{0, before.rlim_max};  // more than there is already
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &none), 0);
  const Code hashed = hash_password("x").status().code();
  const Code compared = is_password("x", hash).status().code();
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);  // the test's own messages need some
  EXPECT_EQ(hashed, Code::Unavailable);
  EXPECT_EQ(compared, Code::Unavailable);
}

TEST(PasswordTest, WithoutMemoryIsAnAnswer) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "store_test", "--gtest_also_run_disabled_tests",
            "--gtest_filter=PasswordTest.DISABLED_InAProcessThatGetsNoMemory", nullptr);
    ::_exit(2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

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
