// SPDX-License-Identifier: Apache-2.0
#include "workbench/find_sessions.hpp"

#include <gtest/gtest.h>

#include "format/event_names.hpp"
#include "format/test_session.hpp"

namespace gpufl::workbench {
namespace {

namespace fs = std::filesystem;
using format::testing::TempDir;

class FindSessionsTest : public ::testing::Test {
 protected:
  void write(const fs::path& dir, int64_t start_wall_ns, const std::string& run = "") {
    format::SessionHeader header = format::testing::test_header();
    header.session_id = dir.filename().string();
    header.run_id = run;
    header.start_wall_ns = start_wall_ns;
    const auto log = format::LogWriter::create(format::testing::test_options(root() / dir), header);
    ASSERT_TRUE(log) << log.status().text();
    ASSERT_TRUE((*log)->close(1000, {}));
  }
  // As `gpufl trace` writes it for a program that left nothing.
  void write_stand_in(const fs::path& dir, int64_t start_wall_ns) {
    format::SessionHeader header = format::testing::test_header();
    header.session_id = dir.filename().string();
    header.run_id = dir.parent_path().string();
    header.start_wall_ns = start_wall_ns;
    header.engine = "Monitor";
    header.backend = "none";
    const auto log = format::LogWriter::create(format::testing::test_options(root() / dir), header);
    ASSERT_TRUE(log) << log.status().text();
    base::Json event = base::Json::object();
    event.set("time", 1).set("name", format::kNoSessionLeft).set("text", "no process left one");
    (*log)->write(format::Kind::Event, event);
    ASSERT_TRUE((*log)->close(1000, {}));
  }
  void write_unreadable(const fs::path& dir) {
    fs::create_directories(root() / dir);
    format::testing::write_text(root() / dir / "system.log", "nothing of a log\n");
  }
  std::vector<std::string> names(const std::vector<FoundSession>& sessions) const {
    std::vector<std::string> names;
    for (const FoundSession& session : sessions) {
      names.push_back(session.dir.lexically_relative(root()).string());
    }
    return names;
  }
  const fs::path& root() const { return dir_.path(); }

 private:
  TempDir dir_;
};

using Names = std::vector<std::string>;

TEST_F(FindSessionsTest, OldestFirstAndUnreadableOnesBeforeAll) {
  write("b", 30);
  write("run/c", 10);
  write_unreadable("z");
  write("a", 20);
  const auto sessions = find_sessions(root());
  EXPECT_EQ(names(sessions), (Names{"z", "run/c", "a", "b"}));
  EXPECT_FALSE(sessions[0].is_readable());
  EXPECT_EQ(sessions[0].problem().find((root() / "z").string() + ": "), 0u);
  EXPECT_EQ(sessions[1].header.session_id, "c");
}

TEST_F(FindSessionsTest, OfOneAgeTheyGoByName) {
  write("run_b/2", 10);
  write("run_a/3", 10);
  write("run_c/1", 10);
  EXPECT_EQ(names(find_sessions(root())), (Names{"run_c/1", "run_b/2", "run_a/3"}));
}

TEST_F(FindSessionsTest, TheNewestBringsItsRunAlong) {
  write("a/1", 10, "a");
  write("b/1", 20, "b");
  write("b/2", 15, "b");
  auto sessions = find_sessions(root());
  EXPECT_EQ(names(take_newest(sessions)), (Names{"b/2", "b/1"}));
  EXPECT_EQ(names(sessions), Names{"a/1"});
  EXPECT_EQ(names(take_newest(sessions)), Names{"a/1"});
  EXPECT_TRUE(sessions.empty());
}

TEST_F(FindSessionsTest, OneThatRecordedNothingHidesNoOther) {
  write("a/1", 10, "a");
  write_stand_in("b/1", 20);
  write_stand_in("c/1", 30);
  auto sessions = find_sessions(root());
  EXPECT_FALSE(recorded_nothing(sessions[0]));
  EXPECT_TRUE(recorded_nothing(sessions[1]));
  EXPECT_EQ(names(take_newest(sessions)), Names{"a/1"});
  EXPECT_EQ(names(sessions), (Names{"b/1", "c/1"}));
  EXPECT_EQ(names(take_newest(sessions)), Names{"c/1"}) << "the newest, where none has anything";
}

TEST_F(FindSessionsTest, SessionsOfOneFolderMayBeOfSeveralRuns) {
  write("1", 10, "a");
  write("2", 20, "b");
  auto sessions = find_sessions(root());
  EXPECT_FALSE(are_one_run(sessions));
  EXPECT_EQ(names(take_newest(sessions)), Names{"2"});
}

TEST_F(FindSessionsTest, WhatCannotBeReadDoesNotSplitARun) {
  write("1", 10, "a");
  write("2", 20, "a");
  write_unreadable("3");
  EXPECT_TRUE(are_one_run(find_sessions(root())));
}

TEST_F(FindSessionsTest, OneOfCopiesStays) {
  write("a", 10);
  write("b", 20);
  fs::copy(root() / "a", root() / "copy", fs::copy_options::recursive);
  auto sessions = find_sessions(root());
  const auto notes = leave_out_copies(sessions);
  EXPECT_EQ(names(sessions), (Names{"a", "b"}));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("copies of one session"), std::string::npos);
}

TEST_F(FindSessionsTest, SaysWhatIsThereInstead) {
  EXPECT_EQ(session_folders(root() / "none").status().code(), base::Code::NotFound);
  EXPECT_NE(no_session(root()).message().find("there is no session in it"), std::string::npos);
  const auto error_of = [&](const std::string& name, const std::string& text) {
    format::testing::write_text(root() / name, text);
    return no_session(root() / name).message();
  };
  EXPECT_NE(error_of("notes.txt", "words").find("it is a file"), std::string::npos);
  EXPECT_NE(error_of("lone.ndjson", "{}").find("it is a file"), std::string::npos);
  EXPECT_NE(error_of("trace.json", " {\"traceEvents\":[]}").find("gpufl import "),
            std::string::npos);
  EXPECT_NE(error_of("trace.json.gz", "\x1f\x8b").find("gpufl import "), std::string::npos);
  EXPECT_NE(error_of("a.nsys-rep", "?").find("nsys export --type sqlite"), std::string::npos);
  const fs::path before = fs::current_path();
  fs::current_path(root());
  EXPECT_EQ(no_session(kDefaultLogs).message(),
            "gpufl-logs: there is no such file or folder; record a session with: gpufl trace -- "
            "PROGRAM");
  fs::current_path(before);
  if (geteuid() == 0) return;  // root may read anything
  fs::create_directories(root() / "closed");
  fs::permissions(root() / "closed", fs::perms::none);
  EXPECT_EQ(no_session(root() / "closed").code(), base::Code::PermissionDenied);
}

}  // namespace
}  // namespace gpufl::workbench
