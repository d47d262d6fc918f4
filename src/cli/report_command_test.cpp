// SPDX-License-Identifier: Apache-2.0
// `gpufl report` as it is typed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/exit_codes.hpp"
#include "cli/test_command.hpp"
#include "workbench/test_repeats.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using testing::run_typed;
using workbench::testing::TestRepeats;

TEST(ReportCommandTest, OfSeveralTheNewestAndHowToSeeTheOthers) {
  const TestRepeats repeats;
  const fs::path folder = repeats.group("a", 20'000, 3);
  const auto outcome = run_typed("report --width 60 " + folder.string());
  EXPECT_EQ(outcome.exit_code, kExitGood) << outcome.err;
  EXPECT_TRUE(
      outcome.out.ends_with("\n\nThis is the newest one of 3 sessions. --all reports all of\n"
                            "them; gpufl sessions lists them.\n"))
      << outcome.out;
  EXPECT_LE(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 45);
  const auto full = run_typed("report --full --width 60 " + folder.string());
  EXPECT_NE(full.out.find("newest one of 3 sessions. The others (--all\nreports them too):\n  " +
                          (folder / "s1").string() + "\n  " + (folder / "s0").string() + "\n"),
            std::string::npos)
      << full.out;
  const auto all = run_typed("report --all " + folder.string());
  EXPECT_EQ(all.exit_code, kExitGood) << all.err;
  EXPECT_EQ(all.out.find("newest"), std::string::npos);
}

TEST(ReportCommandTest, ListsAFewOfThem) {
  const TestRepeats repeats;
  const auto full = run_typed("report --full " + repeats.group("b", 20'000, 13).string());
  EXPECT_NE(full.out.find("  ... 2 more\n"), std::string::npos) << full.out;
}

TEST(ReportCommandTest, OfARunHowToSeeEachSession) {
  const TestRepeats repeats;
  const fs::path folder = repeats.path() / "run";
  for (const char* id : {"s0", "s1"}) {
    format::SessionHeader header = format::testing::test_header();
    header.session_id = id;
    const auto log = format::LogWriter::create(format::testing::test_options(folder / id), header);
    ASSERT_TRUE(log) << log.status().text();
    ASSERT_TRUE((*log)->close(1000, {}));
  }
  const auto outcome = run_typed("report " + folder.string());
  EXPECT_EQ(outcome.exit_code, kExitGood) << outcome.err;
  EXPECT_NE(outcome.out.find("\nSessions (--all reports each of them):\n  " +
                             (folder / "s0").string() + "\n  " + (folder / "s1").string() + "\n"),
            std::string::npos)
      << outcome.out;
  EXPECT_EQ(run_typed("report --format md " + folder.string()).out.find("--all"),
            std::string::npos);
}

TEST(ReportCommandTest, WhatIsWrongIsOnStderrAndInItsExitCode) {
  const TestRepeats repeats;
  const fs::path& folder = repeats.path();
  repeats.group("a", 20'000, 1);
  const fs::path broken = repeats.group("b", 20'000, 1) / "s0";
  for (const auto& file : fs::directory_iterator(broken)) {
    std::ofstream(file.path(), std::ios::trunc) << "nothing of a log";
  }
  const auto newest = run_typed("report " + folder.string());
  EXPECT_EQ(newest.exit_code, kExitGood);
  EXPECT_EQ(newest.err.find("gpufl report: " + broken.string() + ": "), 0u) << newest.err;
  const auto all = run_typed("report --all " + folder.string());
  EXPECT_EQ(all.exit_code, kExitCannotTell);
  EXPECT_NE(all.out.find("gemm"), std::string::npos);
  const auto none = run_typed("report " + (repeats.path() / "none").string());
  EXPECT_EQ(none.exit_code, kExitCannotTell);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(run_typed("report --thresholds /none " + folder.string()).exit_code, kExitUsage);
  EXPECT_EQ(run_typed("report --format xml " + folder.string()).exit_code, kExitUsage);
}

}  // namespace
}  // namespace gpufl::cli
