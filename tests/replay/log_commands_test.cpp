// SPDX-License-Identifier: Apache-2.0
// `gpufl verify`, `log` and `cat` on folders that are not simply one good session.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/json.hpp"
#include "cli/exit_codes.hpp"
#include "cli/test_command.hpp"
#include "format/log_writer.hpp"
#include "golden_sessions.hpp"

namespace gpufl::replay {
namespace {

namespace fs = std::filesystem;

using cli::testing::run_typed;
using Outcome = cli::testing::TypedOutcome;

class LogCommandsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gpufl_commands_XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(dir_); }
  std::string path(const std::string& name = "") const { return (dir_ / name).string(); }

 private:
  fs::path dir_;
};

TEST_F(LogCommandsTest, VerifyAnswersWithTheWorstOfAll) {
  write_complete(path("run/a"), {});
  EXPECT_EQ(run_typed("verify " + path()).exit_code, cli::kExitGood);
  write_crashed(path("run/b"));
  EXPECT_EQ(run_typed("verify " + path("run")).exit_code, cli::kExitNo);
  write_newer_major(path("c"));
  const Outcome all = run_typed("verify --json " + path());
  EXPECT_EQ(all.exit_code, cli::kExitCannotTell);
  const auto list = base::Json::parse(all.out.substr(0, all.out.size() - 1));
  ASSERT_TRUE(list.is_ok()) << all.out;
  ASSERT_EQ(list->items().size(), 3u);
  EXPECT_EQ(list->items()[0]["verdict"].as_string(), "unreadable");
  EXPECT_EQ(list->items()[1]["verdict"].as_string(), "complete");
  EXPECT_EQ(list->items()[2]["verdict"].as_string(), "losses");
  EXPECT_EQ(list->items()[2]["problem_counts"]["torn_line"].as_integer(), 1);
}

TEST_F(LogCommandsTest, VerifyCallsALiveSessionLive) {
  format::LogOptions options;
  options.session_dir = path("a");
  format::SessionHeader header;
  header.session_id = "s";
  auto log = format::LogWriter::create(options, header);
  ASSERT_TRUE(log.is_ok()) << log.status().text();
  const base::Json event = base::Json::object().set("time", 2'500'000'000).set("name", "x");
  (*log)->write(format::Kind::Event, event);
  ASSERT_TRUE((*log)->flush(2'500'000'000).is_ok());
  // Half of a line that its writer is about to end.
  std::ofstream(path("a/system.log"), std::ios::app) << R"({"type":"ev)";
  const Outcome live = run_typed("verify " + path());
  EXPECT_EQ(live.exit_code, cli::kExitGood) << live.out;
  EXPECT_NE(live.out.find("lasted      2.500 s so far\n"), std::string::npos) << live.out;
  EXPECT_NE(live.out.find("verdict     live\n"), std::string::npos) << live.out;
  EXPECT_NE(live.out.find("it is still being written\n"), std::string::npos) << live.out;
  (*log)->abandon();
  const Outcome dead = run_typed("verify " + path());
  EXPECT_EQ(dead.exit_code, cli::kExitNo) << dead.out;
  EXPECT_NE(dead.out.find("lasted      at least 2.500 s\n"), std::string::npos) << dead.out;
  EXPECT_NE(dead.out.find("verdict     cut off\n"), std::string::npos) << dead.out;
}

TEST_F(LogCommandsTest, VerifyTellsOfKernelsThatOverlapAndFindsNoFault) {
  const auto verify_with = [&](const std::string& name, const format::Ledger& ledger) {
    format::LogOptions options;
    options.session_dir = path(name);
    format::SessionHeader header;
    header.session_id = name;
    auto log = format::LogWriter::create(options, header);
    EXPECT_TRUE(log.is_ok() && (*log)->close(1'000, ledger).is_ok());
    return run_typed("verify " + path(name));
  };
  format::Ledger ledger;
  ledger.kernels_overlapping = 5'980;
  ledger.most_overlap_ns = 7'584;
  const Outcome outcome = verify_with("overlapping", ledger);
  EXPECT_EQ(outcome.exit_code, cli::kExitGood);
  EXPECT_NE(
      outcome.out.find("kernels: 5,980 began before the previous one on their stream had ended,"
                       " by at most 7.584 us: because of the vendor's clock, "),
      std::string::npos)
      << outcome.out;
  ledger.kernels_overlapping = ledger.most_overlap_ns = 0;
  EXPECT_EQ(verify_with("none", ledger).out.find("begin before"), std::string::npos);
  EXPECT_EQ(verify_with("unknown", {}).out.find("begin before"), std::string::npos);
}

TEST_F(LogCommandsTest, SayThatThereIsNoSession) {
  for (const char* command : {"verify ", "log ", "cat "}) {
    for (const auto& [where, says] : {std::pair("", ": there is no session in it"),
                                      std::pair("nothing", ": there is no such file or folder")}) {
      const Outcome outcome = run_typed(command + path(where));
      EXPECT_EQ(outcome.exit_code, cli::kExitCannotTell) << command;
      EXPECT_NE(outcome.err.find(path(where) + says), std::string::npos) << outcome.err;
      EXPECT_TRUE(outcome.out.empty());
    }
  }
}

TEST_F(LogCommandsTest, LogListsEverySession) {
  write_complete(path("a"), {});
  write_crashed(path("b"));
  const Outcome outcome = run_typed("log --json " + path());
  EXPECT_EQ(outcome.exit_code, cli::kExitGood);
  const auto list = base::Json::parse(outcome.out.substr(0, outcome.out.size() - 1));
  ASSERT_TRUE(list.is_ok()) << outcome.out;
  ASSERT_EQ(list->items().size(), 2u);
  const base::Json& first = list->items()[0];
  EXPECT_EQ(first["windows"].items().size(), 8u);
  EXPECT_EQ(first["windows"].items()[0]["state"].as_string(), "sealed");
  EXPECT_EQ(first["kinds"]["kernel"].as_integer(), 6);
  EXPECT_EQ(list->items()[1]["windows"].items()[1]["state"].as_string(), "live");
  EXPECT_EQ(list->items()[1]["problems"].as_integer(), 1);
}

TEST_F(LogCommandsTest, CatWantsOneSessionAndAKindThatExists) {
  write_complete(path("a"), {});
  EXPECT_EQ(run_typed("cat " + path() + " kernel").exit_code, cli::kExitGood)
      << "a folder with one session in it";
  const Outcome unknown = run_typed("cat " + path("a") + " kernels");
  EXPECT_EQ(unknown.exit_code, cli::kExitUsage);
  EXPECT_NE(unknown.err.find("; did you mean 'kernel'?"), std::string::npos);
  EXPECT_NE(unknown.err.find(" memcpy,"), std::string::npos) << "the kinds that there are";
  write_crashed(path("b"));
  const Outcome several = run_typed("cat " + path() + " kernel");
  EXPECT_EQ(several.exit_code, cli::kExitUsage);
  EXPECT_NE(several.err.find(path("a")), std::string::npos);
  EXPECT_NE(several.err.find(path("b")), std::string::npos);
  EXPECT_TRUE(several.out.empty());
}

TEST_F(LogCommandsTest, CatGivesOneObjectALine) {
  write_complete(path("a"), {});
  const Outcome outcome = run_typed("cat " + path("a") + " kernel");
  std::istringstream lines(outcome.out);
  int rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    const auto row = base::Json::parse(line);
    ASSERT_TRUE(row.is_ok()) << line;
    EXPECT_TRUE((*row)["name"].is_string());
    EXPECT_TRUE((*row)["start_ns"].is_integer());
    EXPECT_TRUE((*row)["external"].is_string());
  }
  EXPECT_EQ(rows, 6);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 6);
  const std::string session = run_typed("cat " + path("a") + " session").out;
  EXPECT_EQ(std::count(session.begin(), session.end(), '\n'), 1) << "it is one session";
}

TEST_F(LogCommandsTest, AreQuietWhenNobodyReadsOn) {
  write_complete(path("a"), {});
  for (const char* command :
       {"cat %s kernel", "cat %s", "log %s", "verify %s", "verify --json %s"}) {
    std::string arguments = command;
    arguments.replace(arguments.find("%s"), 2, path("a"));
    int ends[2], errors[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(pipe(errors), 0);
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGPIPE, SIG_IGN);
      close(ends[0]);
      dup2(ends[1], STDOUT_FILENO);
      dup2(errors[1], STDERR_FILENO);
      _exit(cli::testing::run_here(cli::testing::words_of(arguments)));
    }
    close(ends[0]);
    close(ends[1]);
    close(errors[1]);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << command;
    EXPECT_EQ(WEXITSTATUS(status), cli::kExitGood) << command;
    char byte;
    EXPECT_EQ(read(errors[0], &byte, 1), 0) << command << " complains";
    close(errors[0]);
  }
}

}  // namespace
}  // namespace gpufl::replay
