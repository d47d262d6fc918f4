// SPDX-License-Identifier: Apache-2.0
#include "server/child_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/eventually.hpp"
#include "format/test_session.hpp"

namespace gpufl::server {
namespace {

using base::eventually;
using std::chrono::milliseconds;

// Starts a process in a group of its own, as nvdisasm is, which has the pipe of reports, too.
constexpr const char* kStandIn = R"(
set -m
sleep 100 2>/dev/null &
echo $! >"$0.new"
mv "$0.new" "$0"
set +m
)";

class ChildProcessTest : public ::testing::Test {
 protected:
  // A child that has started another.
  void start(const std::string& then) {
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    auto started =
        ChildProcess::start({"/bin/bash", "-c", kStandIn + then, number_file().string()}, null);
    ::close(null);
    ASSERT_TRUE(started) << started.status().text();
    child_ = std::move(*started);
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(number_file()); }));
    std::ifstream(number_file()) >> started_;
    ASSERT_GT(started_, 1);
  }
  std::filesystem::path number_file() const { return dir_.path() / "number"; }
  // Or waits to be reaped by whoever inherited it.
  bool is_gone() const {
    std::ifstream file("/proc/" + std::to_string(started_) + "/stat");
    std::string line;
    if (!std::getline(file, line)) return true;
    return line.find(") Z ") != std::string::npos;
  }

  format::testing::TempDir dir_;
  std::unique_ptr<ChildProcess> child_;
  pid_t started_ = 0;
};

TEST_F(ChildProcessTest, WhatItStartedIsKilledWithIt) {
  start("wait");
  EXPECT_FALSE(is_gone());
  EXPECT_FALSE(child_->wait(milliseconds(0)));
  child_->kill();
  EXPECT_TRUE(eventually([&] { return child_->wait(milliseconds(10)); }));
  EXPECT_TRUE(eventually([&] { return is_gone(); }));
  EXPECT_EQ(child_->outcome().code(), base::Code::Cancelled);
}

TEST_F(ChildProcessTest, WhatItStartedEndsWithTheObject) {
  start("wait");
  child_.reset();
  EXPECT_TRUE(eventually([&] { return is_gone(); }));
}

TEST_F(ChildProcessTest, WhatItStartedDoesNotOutliveOneThatIsKilledByOthers) {
  start("kill -9 $$");
  EXPECT_TRUE(eventually([&] { return child_->wait(milliseconds(10)); }));
  EXPECT_TRUE(eventually([&] { return is_gone(); }));
  EXPECT_EQ(child_->outcome().code(), base::Code::Unavailable);
}

TEST_F(ChildProcessTest, ItsLastWordsAreHeardThoughAnotherHasThePipe) {
  start("echo '{\"status\":\"Corrupt\",\"message\":\"last\"}' >&3; exit 1");
  EXPECT_TRUE(eventually([&] { return child_->wait(milliseconds(10)); }));
  EXPECT_EQ(child_->outcome().message(), "last");
  EXPECT_TRUE(eventually([&] { return is_gone(); }));
}

TEST_F(ChildProcessTest, SaysWhatEndedIt) {
  start("i=0; while ((i < 100000)); do ((i += 1)); done; exit 75");
  EXPECT_TRUE(eventually([&] { return child_->wait(milliseconds(10)); }));
  EXPECT_TRUE(child_->ran_out_of_memory());
  EXPECT_EQ(child_->outcome().code(), base::Code::LimitReached);
  EXPECT_GT(child_->cpu_time(), milliseconds(1));
}

}  // namespace
}  // namespace gpufl::server
