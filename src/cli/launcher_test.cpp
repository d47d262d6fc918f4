// SPDX-License-Identifier: Apache-2.0
#include "cli/launcher.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace gpufl::cli {
namespace {

constexpr int kExitCode = 7;

// When the program's own SIGUSR1 comes, waits until it has ended, so that SIGTSTP, the one signal
// that is read after SIGCHLD, is pending when the launcher is through.
class EndsWithSignalPending final : public LaunchObserver {
 public:
  void before_signal(int, pid_t group) override {
    siginfo_t ended;
    waitid(P_PID, static_cast<id_t>(group), &ended, WEXITED | WNOWAIT);
    kill(getpid(), SIGTSTP);
  }
  void tick() override {}
  void terminal_given() override {}
};

// How a process ends, or stops, that launches a program and does `afterwards`.
int status_of_launcher(const std::function<void()>& afterwards) {
  const pid_t launcher = fork();
  if (launcher == 0) {
    EndsWithSignalPending observer;
    const Launch plan{{"sh", "-c", "kill -USR1 $PPID; exit 7"}, {}, std::chrono::milliseconds(0)};
    const auto end = launch(plan, observer);
    afterwards();
    _exit(end ? end->exit_code : 99);
  }
  int status = 0;
  waitpid(launcher, &status, WUNTRACED);
  if (WIFSTOPPED(status)) {
    kill(launcher, SIGKILL);
    waitpid(launcher, nullptr, 0);
  }
  return status;
}

TEST(Launcher, SignalsThatCameBeforeTheEndWereThePrograms) {
  const int status = status_of_launcher([] {});
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), kExitCode);
}

TEST(Launcher, ASignalThatComesAfterTheEndChangesNothing) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1}) {
    const int status = status_of_launcher([number] { raise(number); });
    ASSERT_TRUE(WIFEXITED(status)) << number << ": " << status;
    EXPECT_EQ(WEXITSTATUS(status), kExitCode) << number;
  }
}

TEST(Launcher, AnotherEndsItWithTheProgramsExitCode) {
  const int status = status_of_launcher([] {
    raise(SIGINT);
    raise(SIGTERM);
    _exit(98);
  });
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), kExitCode);
}

}  // namespace
}  // namespace gpufl::cli
