// SPDX-License-Identifier: Apache-2.0
#include "base/child_process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <csignal>

#include "base/temp_dir.hpp"

namespace gpufl::base {
namespace {

namespace fs = std::filesystem;

fs::path write_script(const fs::path& path, const std::string& body) {
  std::ofstream(path) << "#!/bin/sh\n" << body;
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

class ChildProcessTest : public ::testing::Test {
 protected:
  Result<ChildOutput> run(const std::string& body, const ChildLimits& limits = {},
                          const ChildSetup& setup = {}) {
    return run_child(write_script(dir_.path() / "tool", body), {"one", "two words"}, setup, limits);
  }
  TempDir dir_;
};

TEST_F(ChildProcessTest, TakesWhatAProgramPrintsAndItsExitCode) {
  const auto output = run("echo \"$1,$2\"; echo trouble >&2; exit 3\n");
  ASSERT_TRUE(output.is_ok()) << output.status().text();
  EXPECT_EQ(output->out, "one,two words\n");
  EXPECT_EQ(output->err, "trouble\n");
  EXPECT_EQ(output->exit_code, 3);
}

TEST_F(ChildProcessTest, GivesItADescriptorToRead) {
  const int fd = ::open(write_script(dir_.path() / "input", "").c_str(), O_RDONLY | O_CLOEXEC);
  const auto output = run("cat /proc/self/fd/3\n", {}, {.input = fd});
  ::close(fd);
  ASSERT_TRUE(output.is_ok());
  EXPECT_EQ(output->out, "#!/bin/sh\n");
}

TEST_F(ChildProcessTest, EndsOneThatHangsAndWhatItStarted) {
  ChildLimits limits;
  limits.time = std::chrono::milliseconds(300);
  const auto output =
      run("sleep 1000 & echo $! > " + (dir_.path() / "pid").string() + "; wait\n", limits);
  ASSERT_FALSE(output.is_ok());
  EXPECT_EQ(output.status().code(), Code::LimitReached);
}

TEST_F(ChildProcessTest, EndsOneThatPrintsWithoutEnd) {
  ChildLimits limits;
  limits.output_bytes = size_t{1} << 20;
  const auto output = run("yes\n", limits);
  ASSERT_FALSE(output.is_ok());
  EXPECT_EQ(output.status().code(), Code::LimitReached);
  EXPECT_NE(output.status().message().find("more than 1 MiB"), std::string::npos);
}

TEST_F(ChildProcessTest, KeepsTheBeginningOfALongComplaint) {
  const auto output = run("yes complaint | head -c 1000000 >&2; exit 1\n");
  ASSERT_TRUE(output.is_ok());
  EXPECT_EQ(output->err.size(), size_t{4} << 10);
}

TEST_F(ChildProcessTest, GivesItATextToRead) {
  const auto output = run("read line; echo \"<$line>\"; cat\n", {}, {.text = "one\ntwo"});
  ASSERT_TRUE(output) << output.status().text();
  EXPECT_EQ(output->out, "<one>\ntwo");
  EXPECT_EQ(run("cat\n")->out, "") << "nothing, otherwise";
  EXPECT_EQ(run("exit 0\n", {}, {.text = "unread"})->exit_code, 0);
}

TEST_F(ChildProcessTest, GivesItTheEnvironmentThatIsWanted) {
  ::setenv("GPUFL_TEST_SECRET", "secret", 1);
  const auto output =
      run("echo \"$GPUFL_TEST_SECRET,$A\"\n", {}, {.environment = std::vector<std::string>{"A=b"}});
  ::unsetenv("GPUFL_TEST_SECRET");
  ASSERT_TRUE(output) << output.status().text();
  EXPECT_EQ(output->out, ",b\n");
}

TEST_F(ChildProcessTest, KeepsOurDescriptorsFromIt) {
  const int fd = ::fcntl(STDIN_FILENO, F_DUPFD, 50);  // as many programs have some
  const auto output = run("ls /proc/self/fd\n");
  ::close(fd);
  ASSERT_TRUE(output) << output.status().text();
  EXPECT_EQ(output->out.find("50"), std::string::npos) << output->out;
}

TEST_F(ChildProcessTest, SaysWhichSignalEndedIt) {
  const auto output = run("kill -9 $$\n");
  ASSERT_TRUE(output.is_ok());
  EXPECT_EQ(output->exit_code, 128 + 9);
}

TEST_F(ChildProcessTest, CtrlCReachesItWhereThatIsWanted) {
  const std::string group = "read id name state parent group rest < /proc/self/stat; echo $group\n";
  EXPECT_NE(run(group)->out, std::to_string(::getpgrp()) + "\n");
  EXPECT_EQ(run(group, {}, {.is_in_our_group = true})->out, std::to_string(::getpgrp()) + "\n");
}

// nohup and background jobs of scripts are to stay what they are.
TEST_F(ChildProcessTest, WhatWeIgnoreIsIgnoredByOneInOurGroup) {
  const std::string ends = "kill -HUP $$; echo lives\n";
  const auto before = std::signal(SIGHUP, SIG_IGN);
  const auto alone = run(ends);
  const auto in_group = run(ends, {}, {.is_in_our_group = true});
  std::signal(SIGHUP, before);
  EXPECT_EQ(alone->exit_code, 128 + SIGHUP);
  EXPECT_EQ(in_group->out, "lives\n");
}

TEST_F(ChildProcessTest, EndsOneInOurGroupWithoutUs) {
  ChildLimits limits;
  limits.time = std::chrono::milliseconds(300);
  const auto output = run("exec sleep 1000\n", limits, {.is_in_our_group = true});
  ASSERT_FALSE(output.is_ok());
  EXPECT_EQ(output.status().code(), Code::LimitReached);
}

TEST_F(ChildProcessTest, OneThatIsNotThereIsAnError) {
  const auto output = run_child(dir_.path() / "none", {}, {}, {});
  ASSERT_FALSE(output.is_ok());
  EXPECT_EQ(output.status().code(), Code::NotFound);
}

}  // namespace
}  // namespace gpufl::base
