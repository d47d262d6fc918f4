// SPDX-License-Identifier: Apache-2.0
#include "workbench/cleanup.hpp"

#include <stdlib.h>

#include <fstream>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "format/log_writer.hpp"

namespace gpufl::workbench {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kPadding = 100'000;  // far more than what the writer itself puts there

class SessionCleanupTest : public testing::Test {
 protected:
  SessionCleanupTest() {
    std::string pattern = (fs::temp_directory_path() / "gpufl_cleanup_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~SessionCleanupTest() override { fs::remove_all(root_); }

  std::unique_ptr<format::LogWriter> begin(const std::string& id, const std::string& name,
                                           int64_t start_wall_ns = 0) {
    format::LogOptions options;
    options.session_dir = root_ / id;
    options.disk_floor_bytes = 0;
    format::SessionHeader header;
    header.session_id = id;
    header.run_id = fs::path(id).begin()->string();
    header.app_name = name;
    header.engine = "Monitor";
    header.backend = "none";
    header.start_wall_ns = start_wall_ns;
    auto log = format::LogWriter::create(options, header);
    EXPECT_TRUE(log.is_ok()) << log.status().text();
    std::ofstream(root_ / id / "code.9.log") << std::string(kPadding, 'x');
    std::ofstream(root_ / id / "symbols.ndjson") << "{}\n";
    std::ofstream(root_ / id / "symbols.ndjson.4711.tmp") << "{}\n";
    std::ofstream(root_ / id / "disassembly.ndjson.zst") << "x";
    std::ofstream(root_ / id / "disassembly.ndjson.zst.4711.tmp") << "x";
    return std::move(*log);
  }
  void record(const std::string& id, const std::string& name, int64_t start_wall_ns = 0) {
    EXPECT_TRUE(begin(id, name, start_wall_ns)->close(1, format::Ledger()));
  }
  bool exists(const std::string& id) const { return fs::exists(root_ / id); }

  fs::path root_;
};

TEST_F(SessionCleanupTest, DeletesTheOldestUntilTheRestFit) {
  for (const char* id : {"20250103T000000Z-03", "20250101T000000Z-01", "20250102T000000Z-02"}) {
    record(id, "mine");
  }
  EXPECT_EQ(delete_old_sessions(root_, "mine", 4 * kPadding).deleted.size(), 0u);
  EXPECT_EQ(delete_old_sessions(root_, "mine", kPadding * 5 / 2).deleted,
            std::vector{root_ / "20250101T000000Z-01"});
  EXPECT_TRUE(exists("20250102T000000Z-02"));
  EXPECT_EQ(delete_old_sessions(root_, "mine", 0).deleted.size(), 2u);
}

TEST_F(SessionCleanupTest, LeavesWhatIsNotItsToDelete) {
  record("20250101T000000Z-01", "other");
  const auto live = begin("20250102T000000Z-02", "mine");
  fs::create_directories(root_ / "20250103T000000Z-03");
  std::ofstream(root_ / "20250103T000000Z-03" / "notes.txt") << std::string(kPadding, 'x');
  EXPECT_EQ(delete_old_sessions(root_, "mine", 0).deleted.size(), 0u);
  EXPECT_TRUE(exists("20250101T000000Z-01"));
  EXPECT_TRUE(exists("20250102T000000Z-02"));
  EXPECT_TRUE(exists("20250103T000000Z-03"));
  EXPECT_TRUE(live->close(1, format::Ledger()));
}

TEST_F(SessionCleanupTest, DeletesNoFileOfAnyoneElse) {
  const std::string id = "20250101T000000Z-01";
  record(id, "mine");
  for (const char* name :
       {"notes.txt", "notes.log", "device.log.tmp", "device.07.log", "symbols.ndjson.old"}) {
    std::ofstream(root_ / id / name) << "keep me";
  }
  fs::create_symlink(root_ / id / "notes.txt", root_ / id / "scope.log");
  fs::create_directories(root_ / id / "device.3.log");
  const Cleanup done = delete_old_sessions(root_, "mine", 0);
  EXPECT_TRUE(done.deleted.empty());
  EXPECT_EQ(done.emptied, std::vector{root_ / id});
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(root_ / id)) left.insert(entry.path().filename());
  EXPECT_EQ(left,
            (std::set<std::string>{"notes.txt", "notes.log", "device.log.tmp", "device.07.log",
                                   "scope.log", "device.3.log", "symbols.ndjson.old"}));
}

TEST_F(SessionCleanupTest, DeletesImagesOfCode) {
  const std::string id = "20250101T000000Z-01";
  const auto log = begin(id, "mine");
  format::CodeImage image;
  image.bytes = "code";
  log->keep_module(1, image);
  EXPECT_TRUE(log->close(1, format::Ledger()));
  const fs::path modules = root_ / id / "modules";
  ASSERT_FALSE(fs::is_empty(modules));
  std::ofstream(modules / "0123456789abcdef.cubin.zst.tmp") << std::string(kPadding, 'x');
  const Cleanup dry = delete_sessions(root_, true);
  EXPECT_EQ(dry.deleted, std::vector{root_ / id});
  EXPECT_GT(dry.bytes, 2 * kPadding);

  std::ofstream(modules / "notes.txt") << "keep me";
  EXPECT_EQ(delete_sessions(root_, true).emptied, std::vector{root_ / id});
  EXPECT_EQ(delete_sessions(root_, false).emptied, std::vector{root_ / id});
  EXPECT_EQ(std::distance(fs::directory_iterator(modules), {}), 1);
  fs::remove_all(modules);
  record(id + "b", "mine");
  EXPECT_EQ(delete_sessions(root_, false).deleted, std::vector{root_ / (id + "b")});
}

TEST_F(SessionCleanupTest, FollowsNoLinkOutOfTheFolder) {
  record("elsewhere/20250101T000000Z-01", "mine");
  fs::create_directories(root_ / "logs");
  fs::create_directory_symlink(root_ / "elsewhere", root_ / "logs" / "run");
  fs::create_directory_symlink(root_ / "elsewhere" / "20250101T000000Z-01",
                               root_ / "logs" / "20250101T000000Z-01");
  EXPECT_TRUE(delete_old_sessions(root_ / "logs", "mine", 0).deleted.empty());
  EXPECT_TRUE(exists("elsewhere/20250101T000000Z-01/manifest.ndjson"));

  fs::create_directory_symlink(root_ / "elsewhere", root_ / "my_logs");
  EXPECT_EQ(delete_old_sessions(root_ / "my_logs", "mine", 0).deleted.size(), 1u)
      << "the folder that the user names may be a link";
}

TEST_F(SessionCleanupTest, TheFolderMayBeASession) {
  const fs::path before = fs::current_path();
  const auto delete_as = [&](const std::string& id, const fs::path& cwd, const fs::path& given) {
    record(id, "mine");
    fs::current_path(cwd);
    const Cleanup plan = delete_sessions(given, true);
    EXPECT_EQ(plan.deleted.size(), 1u) << given;
    const Cleanup done = delete_sessions(given, false, {.only = plan.deleted});
    fs::current_path(before);
    EXPECT_EQ(done.deleted.size(), 1u) << given;
    EXPECT_TRUE(done.kept.empty()) << given;
    EXPECT_FALSE(exists(id)) << given;
    EXPECT_TRUE(fs::exists(root_)) << given;
  };
  delete_as("one", root_, root_ / "one");
  delete_as("one", root_, root_ / "one" / "");
  delete_as("one", root_, "one");
  delete_as("one", root_, "one/");
  delete_as("one", root_ / "one", ".");
}

TEST_F(SessionCleanupTest, DeletesStartsThatDied) {
  const auto make = [&](const std::string& id, size_t bytes) {
    fs::create_directories(root_ / id);
    std::ofstream(root_ / id / "system.log") << std::string(bytes, 'x');
    std::ofstream(root_ / id / "lock");
  };
  make("20250101T000000Z-01", 0);
  make("20250102T000000Z-02", kPadding);
  EXPECT_EQ(delete_old_sessions(root_, "mine", 0).deleted,
            std::vector{root_ / "20250101T000000Z-01"});
  EXPECT_TRUE(exists("20250102T000000Z-02")) << "somebody's log, damaged";
}

TEST_F(SessionCleanupTest, NoFolderIsNoMistake) {
  EXPECT_EQ(delete_old_sessions(root_ / "none", "mine", 0).deleted.size(), 0u);
}

TEST_F(SessionCleanupTest, CleanDeletesSessionsOfAnyNameButNotLiveOnes) {
  record("20250101T000000Z-01", "mine");
  record("20250102T000000Z-02", "other");
  const auto live = begin("20250103T000000Z-03", "mine");
  std::ofstream(root_ / "20250102T000000Z-02" / "notes.txt") << "mine";
  std::ofstream(root_ / "notes.txt") << "mine";

  const Cleanup plan = delete_sessions(root_, true);
  EXPECT_TRUE(exists("20250101T000000Z-01/manifest.ndjson"));
  const Cleanup done = delete_sessions(root_, false);
  EXPECT_EQ(done.deleted, std::vector{root_ / "20250101T000000Z-01"});
  EXPECT_EQ(done.emptied, std::vector{root_ / "20250102T000000Z-02"});
  EXPECT_EQ(done.kept, std::vector{root_ / "20250103T000000Z-03"});
  EXPECT_GT(done.bytes, 2 * kPadding);
  EXPECT_EQ(plan.deleted, done.deleted);
  EXPECT_EQ(plan.emptied, done.emptied);
  EXPECT_EQ(plan.kept, done.kept);
  EXPECT_EQ(plan.bytes, done.bytes);
  EXPECT_FALSE(exists("20250101T000000Z-01"));
  EXPECT_TRUE(exists("20250102T000000Z-02/notes.txt"));
  EXPECT_TRUE(exists("notes.txt"));
  EXPECT_TRUE(live->close(1, format::Ledger()));
}

TEST_F(SessionCleanupTest, DeletesOnlyTheOlderOnes) {
  record("a", "mine", 100);
  record("b", "mine", 200);
  record("c", "mine", 300);
  EXPECT_EQ(delete_sessions(root_, false, {.began_before_ns = 200}).deleted,
            std::vector{root_ / "a"});
  EXPECT_TRUE(exists("b") && exists("c"));
}

TEST_F(SessionCleanupTest, KeepsTheNewestOfWhichARunIsOne) {
  record("a", "mine", 100);
  record("run/x", "mine", 200);
  record("run/y", "mine", 201);
  record("c", "mine", 300);
  EXPECT_EQ(delete_sessions(root_, true, {.keep = 2}).deleted, std::vector{root_ / "a"});
  EXPECT_EQ(delete_sessions(root_, true, {.began_before_ns = 150, .keep = 3}).deleted.size(), 0u);
  EXPECT_EQ(delete_sessions(root_, false, {.keep = 1}).deleted.size(), 3u);
  EXPECT_TRUE(exists("c"));
  EXPECT_FALSE(exists("run")) << "an empty folder";
}

TEST_F(SessionCleanupTest, DeletesNoMoreThanWasAgreedTo) {
  record("a", "mine", 100);
  record("b", "mine", 200);
  EXPECT_EQ(delete_sessions(root_, false, {.only = std::vector{root_ / "b"}}).deleted,
            std::vector{root_ / "b"});
  EXPECT_TRUE(exists("a"));
}

TEST_F(SessionCleanupTest, AFileOfSomeoneElseKeepsOnlyItself) {
  record("run/a", "mine");
  std::ofstream(root_ / "device.log") << "not ours";
  std::ofstream(root_ / "run" / "system.log") << "not ours";
  EXPECT_EQ(delete_sessions(root_, false).deleted, std::vector{root_ / "run" / "a"});
  EXPECT_TRUE(exists("device.log"));
  EXPECT_TRUE(exists("run/system.log"));
  EXPECT_TRUE(delete_sessions(root_, false).deleted.empty());
  EXPECT_TRUE(exists("run/system.log")) << "no session that died: there is no lock";
}

}  // namespace
}  // namespace gpufl::workbench
