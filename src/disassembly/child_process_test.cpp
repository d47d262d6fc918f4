// SPDX-License-Identifier: Apache-2.0
#include "disassembly/child_process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "disassembly/test_modules.hpp"

namespace gpufl::disassembly {
namespace {

using format::testing::TempDir;
using testing::write_script;

class ChildProcessTest : public ::testing::Test {
 protected:
  base::Result<ChildOutput> run(const std::string& body, const ChildLimits& limits = {},
                                int input = -1) {
    return run_child(write_script(dir_.path() / "tool", body), {"one", "two words"}, input, limits);
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
  const auto output = run("cat /proc/self/fd/3\n", {}, fd);
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
  EXPECT_EQ(output.status().code(), base::Code::LimitReached);
}

TEST_F(ChildProcessTest, EndsOneThatPrintsWithoutEnd) {
  ChildLimits limits;
  limits.output_bytes = size_t{1} << 20;
  const auto output = run("yes\n", limits);
  ASSERT_FALSE(output.is_ok());
  EXPECT_EQ(output.status().code(), base::Code::LimitReached);
  EXPECT_NE(output.status().message().find("more than 1 MiB"), std::string::npos);
}

TEST_F(ChildProcessTest, KeepsTheBeginningOfALongComplaint) {
  const auto output = run("yes complaint | head -c 1000000 >&2; exit 1\n");
  ASSERT_TRUE(output.is_ok());
  EXPECT_EQ(output->err.size(), size_t{4} << 10);
}

TEST_F(ChildProcessTest, SaysWhichSignalEndedIt) {
  const auto output = run("kill -9 $$\n");
  ASSERT_TRUE(output.is_ok());
  EXPECT_EQ(output->exit_code, 128 + 9);
}

TEST_F(ChildProcessTest, OneThatIsNotThereIsAnError) {
  const auto output = run_child(dir_.path() / "none", {}, -1, {});
  ASSERT_FALSE(output.is_ok());
  EXPECT_EQ(output.status().code(), base::Code::NotFound);
}

}  // namespace
}  // namespace gpufl::disassembly
