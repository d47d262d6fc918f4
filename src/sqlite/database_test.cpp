// SPDX-License-Identifier: Apache-2.0
#include "sqlite/database.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/temp_dir.hpp"

namespace gpufl::sqlite {
namespace {

using base::Code;
using base::Status;

class DatabaseTest : public ::testing::Test {
 protected:
  std::unique_ptr<Database> open() {
    auto opened = Database::open(file(), Database::Mode::Durable);
    EXPECT_TRUE(opened) << opened.status().text();
    return opened ? std::move(*opened) : nullptr;
  }
  std::filesystem::path file() const { return folder_.path() / "some.db"; }

  base::TempDir folder_;
};

std::vector<std::string> texts(Database& database, std::string_view sql) {
  std::vector<std::string> found;
  const auto asked =
      database.query(sql, {}, [&](const Row& row) { found.emplace_back(row.text(0)); });
  EXPECT_TRUE(asked) << asked.text();
  return found;
}

TEST_F(DatabaseTest, GivesBackTheValuesItWasGiven) {
  const auto database = open();
  ASSERT_TRUE(database->run("CREATE TABLE t (number INTEGER, text TEXT, bytes BLOB, none TEXT)"));
  const std::string text = "'); DROP TABLE t; --";
  const std::string bytes("a\0b", 3);
  ASSERT_TRUE(database->run("INSERT INTO t VALUES (?, ?, ?, ?)",
                            {INT64_MIN, text, Value::blob(bytes), std::nullopt}));
  ASSERT_TRUE(database->run("INSERT INTO t VALUES (?, ?, ?, ?)",
                            {std::optional<int64_t>(), std::string_view(), Value::blob({}), "x"}));
  size_t rows = 0;
  ASSERT_TRUE(database->query("SELECT * FROM t ORDER BY rowid", {}, [&](const Row& row) {
    if (rows++ == 0) {
      EXPECT_EQ(row.integer(0), INT64_MIN);
      EXPECT_EQ(row.text(1), text);
      EXPECT_EQ(row.blob(2), bytes);
      EXPECT_FALSE(row.has(3));
    } else {
      EXPECT_FALSE(row.has(0));
      EXPECT_EQ(row.integer(0, 7), 7);
      EXPECT_TRUE(row.has(1)) << "an empty text is not NULL";
      EXPECT_TRUE(row.has(2)) << "nor are no bytes";
    }
  }));
  EXPECT_EQ(rows, 2U);
}

TEST_F(DatabaseTest, RefusesAStatementWithTooFewValues) {
  const auto database = open();
  EXPECT_EQ(database->run("SELECT ?, ?", {int64_t{1}}).code(), Code::Internal);
}

TEST_F(DatabaseTest, ForgetsATransactionThatWasNotCommitted) {
  const auto database = open();
  ASSERT_TRUE(database->run("CREATE TABLE t (name TEXT UNIQUE)"));
  const Status wrong = {Code::InvalidArgument, "changed its mind"};
  EXPECT_EQ(transact(*database,
                     [&] {
                       EXPECT_TRUE(database->run("INSERT INTO t VALUES ('lost')"));
                       return wrong;
                     })
                .code(),
            Code::InvalidArgument);
  ASSERT_TRUE(transact(*database, [&] { return database->run("INSERT INTO t VALUES ('kept')"); }));
  EXPECT_EQ(database->run("INSERT INTO t VALUES ('kept')").code(), Code::InvalidArgument);
  EXPECT_EQ(texts(*database, "SELECT name FROM t"), std::vector<std::string>{"kept"});
}

TEST_F(DatabaseTest, DoesNoWorkWhileAnotherProgramKeepsTheFileLocked) {
  const auto database = open(), other = open();
  ASSERT_TRUE(database->run("CREATE TABLE t (name TEXT)"));
  ASSERT_TRUE(database->run("PRAGMA busy_timeout = 1"));
  ASSERT_TRUE(other->run("BEGIN IMMEDIATE"));
  const auto work = [&] {
    EXPECT_TRUE(other->run("ROLLBACK"));
    return database->run("INSERT INTO t VALUES ('late')");
  };
  EXPECT_EQ(transact(*database, work).code(), Code::Unavailable);
  EXPECT_TRUE(texts(*database, "SELECT name FROM t").empty());
}

TEST_F(DatabaseTest, AProgramThatOnlyLooksChangesNothing) {
  const auto database = open();
  const std::array<const char*, 1> first = {"CREATE TABLE a (x)"};
  const std::array<const char*, 2> both = {"CREATE TABLE a (x)", "CREATE TABLE b (x)"};
  EXPECT_EQ(expect_version(*database, "part", first).code(), Code::Unavailable);
  ASSERT_TRUE(migrate(*database, "part", first));
  EXPECT_TRUE(expect_version(*database, "part", first));
  EXPECT_EQ(expect_version(*database, "part", both).code(), Code::Unavailable);
  EXPECT_FALSE(database->run("SELECT * FROM b"));
  ASSERT_TRUE(migrate(*database, "part", both));
  EXPECT_EQ(expect_version(*database, "part", first).code(), Code::TooNew);
}

TEST_F(DatabaseTest, SeveralProgramsThatMigrateTakeEachStepOnce) {
  const std::array<const char*, 3> steps = {"CREATE TABLE a (x)", "CREATE TABLE b (x)",
                                            "CREATE TABLE c (x)"};
  ASSERT_NE(open(), nullptr);
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto database = open();
      const Status migrated = migrate(*database, "part", steps);
      EXPECT_TRUE(migrated) << migrated.text();
      done += migrated.is_ok() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 4);
}

TEST_F(DatabaseTest, MigratesStepByStepAndRefusesWhatIsNewer) {
  const std::array first = {"CREATE TABLE t (name TEXT)"};
  const std::array both = {first[0], "ALTER TABLE t ADD COLUMN age INTEGER DEFAULT 3"};
  const auto database = open();
  ASSERT_TRUE(migrate(*database, "part", first));
  ASSERT_TRUE(database->run("INSERT INTO t VALUES ('a')"));
  ASSERT_TRUE(migrate(*database, "part", both));
  ASSERT_TRUE(migrate(*database, "part", both));  // again: nothing to do
  ASSERT_TRUE(migrate(*database, "other", {}));
  int64_t age = 0;
  ASSERT_TRUE(
      database->query("SELECT age FROM t", {}, [&](const Row& row) { age = row.integer(0); }));
  EXPECT_EQ(age, 3);
  EXPECT_EQ(migrate(*database, "part", first).code(), Code::TooNew);
}

TEST_F(DatabaseTest, LeavesTheVersionWhereAStepFails) {
  const std::array broken = {"CREATE TABLE t (name TEXT)", "CREATE TABLE u (a); NOT SQL"};
  const auto database = open();
  EXPECT_FALSE(migrate(*database, "part", broken));
  EXPECT_EQ(texts(*database, "SELECT name FROM sqlite_master WHERE name IN ('t', 'u')"),
            std::vector<std::string>{"t"});
  const std::array mended = {broken[0], "CREATE TABLE u (a)"};
  EXPECT_TRUE(migrate(*database, "part", mended));
}

TEST_F(DatabaseTest, CopiesWhileOthersWrite) {
  const auto database = open();
  ASSERT_TRUE(database->run("CREATE TABLE t (name TEXT)"));
  ASSERT_TRUE(database->run("INSERT INTO t VALUES ('a')"));
  const auto copy = folder_.path() / "copy.db";
  ASSERT_TRUE(database->copy_to(copy));
  ASSERT_TRUE(database->run("INSERT INTO t VALUES ('b')"));
  EXPECT_EQ(database->copy_to(copy).code(), Code::InvalidArgument);
  auto opened = Database::open(copy, Database::Mode::Existing);
  ASSERT_TRUE(opened);
  EXPECT_EQ(texts(**opened, "SELECT name FROM t"), std::vector<std::string>{"a"});
  EXPECT_EQ((*opened)->run("INSERT INTO t VALUES ('c')").code(), Code::PermissionDenied);
}

TEST_F(DatabaseTest, SaysWhenAFileIsNotOneOfIts) {
  std::ofstream(file()) << std::string(4096, 'x');
  const auto opened = Database::open(file(), Database::Mode::Durable);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.status().code(), Code::Corrupt);
  EXPECT_EQ(Database::open(folder_.path() / "none.db", Database::Mode::Existing).status().code(),
            Code::IoError);
}

TEST_F(DatabaseTest, FindsDamage) {
  {
    const auto database = open();
    ASSERT_TRUE(database->run("CREATE TABLE t (name TEXT)"));
    ASSERT_TRUE(transact(*database, [&] {
      Status done;
      for (int i = 0; i < 500 && done; ++i) {
        done = database->run("INSERT INTO t VALUES (?)", {std::string(100, 'x')});
      }
      return done;
    }));
    const auto whole = database->check();
    ASSERT_TRUE(whole);
    EXPECT_EQ(*whole, "");
  }
  std::fstream bytes(file(), std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(3 * 4096);
  bytes << std::string(200, '\xff');
  bytes.close();
  const auto damaged = open()->check();
  EXPECT_TRUE(!damaged || !damaged->empty());
}

}  // namespace
}  // namespace gpufl::sqlite
