// SPDX-License-Identifier: Apache-2.0
#include "cli/launcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include "cli/exit_codes.hpp"

namespace gpufl::cli {
namespace {

// Those that go on to the program; the first five to all of its process group, because they come
// from a terminal or mean the whole job.
constexpr int kForwarded[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2};

bool is_for_group(int number) { return number != SIGUSR1 && number != SIGUSR2; }

// Those by which somebody wants an end of it all.
bool stops(int number) {
  return number == SIGINT || number == SIGQUIT || number == SIGHUP || number == SIGTERM;
}

volatile std::sig_atomic_t code_to_leave_with = 0, late_signals = 0, has_late_stop = 0;

// The first came too late for the program; who sends another means us.
void leave_at_second(int number) {
  if (late_signals != 0) _exit(code_to_leave_with);
  late_signals = 1;
  if (stops(number)) has_late_stop = 1;
}

// What programs get, also those after the first: it is ours that change.
struct Inherited {
  struct sigaction child = {}, pipe = {};
};
const Inherited& inherited() {
  static const Inherited first = [] {
    Inherited actions;
    sigaction(SIGCHLD, nullptr, &actions.child);
    sigaction(SIGPIPE, nullptr, &actions.pipe);
    return actions;
  }();
  return first;
}

// Signals as something to read, and what they were before, which the program gets. Those that our
// own parent had us ignore stay ignored.
class LauncherSignals {
 public:
  LauncherSignals() {
    sigemptyset(&taken_);
    for (const int number : kForwarded) {
      struct sigaction action = {};
      if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
        sigaddset(&taken_, number);
      }
    }
    for (const int number : {SIGCHLD, SIGCONT}) sigaddset(&taken_, number);
    (void)inherited();
    std::signal(SIGCHLD, SIG_DFL);  // ignored, our children would leave no exit code
    std::signal(SIGPIPE, SIG_IGN);  // who reads what we print does not decide over the program
    sigprocmask(SIG_BLOCK, &taken_, &mask_before_);
    fd_ = signalfd(-1, &taken_, SFD_NONBLOCK | SFD_CLOEXEC);
  }
  ~LauncherSignals() {
    while (const int number = take()) {  // they were the program's
      if (stops(number)) has_late_stop = 1;
    }
    ::close(fd_);
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  LauncherSignals(const LauncherSignals&) = delete;
  LauncherSignals& operator=(const LauncherSignals&) = delete;

  int fd() const { return fd_; }
  int take() const {
    signalfd_siginfo info;
    return ::read(fd_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
  }
  // The program has ended, and what is left to do is ours.
  void leave_with(int exit_code) const {
    code_to_leave_with = exit_code;
    late_signals = 0;
    has_late_stop = 0;
    for (const int number : kForwarded) {
      struct sigaction action = {};
      if (sigismember(&taken_, number) != 1 || number == SIGTSTP) continue;
      action.sa_handler = leave_at_second;
      action.sa_flags = SA_RESTART;
      sigaction(number, &action, nullptr);
    }
  }
  // All as it was: for the program.
  void restore() const {
    sigaction(SIGCHLD, &inherited().child, nullptr);
    sigaction(SIGPIPE, &inherited().pipe, nullptr);
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }

 private:
  sigset_t taken_, mask_before_;
  int fd_ = -1;
};

// The terminal that controls us, if one does, and whose it is now.
class JobTerminal {
 public:
  JobTerminal() : fd_(::open("/dev/tty", O_RDWR | O_CLOEXEC)) {}
  ~JobTerminal() {
    if (fd_ >= 0) ::close(fd_);
  }
  JobTerminal(const JobTerminal&) = delete;
  JobTerminal& operator=(const JobTerminal&) = delete;

  bool is_ours() const { return fd_ >= 0 && tcgetpgrp(fd_) == getpgrp(); }
  void give_to(pid_t group) const {
    sigset_t stop, before;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);  // which a group in the background gets for this
    sigprocmask(SIG_BLOCK, &stop, &before);
    if (fd_ >= 0) tcsetpgrp(fd_, group);
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }

 private:
  int fd_;
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

[[noreturn]] void become(const Launch& launch, const LauncherSignals& signals, pid_t launcher,
                         int error_pipe) {
  setpgid(0, 0);
  // Whoever kills the launcher means the program.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) _exit(kExitSignalBase + SIGKILL);
  signals.restore();
  const std::vector<char*> command = pointers(launch.command);
  const std::vector<char*> environment = pointers(launch.environment);
  execvpe(command[0], command.data(), environment.data());
  const int error = errno;
  (void)!::write(error_pipe, &error, sizeof error);
  _exit(kExitNotFound);
}

base::Result<pid_t> start(const Launch& launch, const LauncherSignals& signals) {
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) return base::Status::from_errno(errno, "pipe");
  const pid_t launcher = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(launch, signals, launcher, error_pipe[1]);
  const int fork_error = errno;
  ::close(error_pipe[1]);
  int error = 0;
  const bool failed = pid > 0 && ::read(error_pipe[0], &error, sizeof error) == sizeof error;
  ::close(error_pipe[0]);
  if (pid < 0) return base::Status::from_errno(fork_error, "fork");
  if (!failed) return pid;
  waitpid(pid, nullptr, 0);
  return base::Status::from_errno(error, launch.command.front());
}

class Supervisor {
 public:
  Supervisor(pid_t pid, const LauncherSignals& signals, LaunchObserver& observer)
      : pid_(pid), signals_(signals), observer_(observer) {}

  int run(std::chrono::milliseconds pace) {
    const int timeout_ms = pace.count() > 0 ? static_cast<int>(pace.count()) : -1;
    while (true) {
      pollfd waiting{signals_.fd(), POLLIN, 0};
      if (::poll(&waiting, 1, timeout_ms) == 0 && !has_terminal_) observer_.tick();
      while (const int number = signals_.take()) {
        if (number == SIGCHLD) {
          if (const auto code = see_child()) return *code;
        } else if (number == SIGTSTP) {
          suspend();
        } else if (number != SIGCONT) {
          if (stops(number)) is_stopped_ = true;
          observer_.before_signal(number, pid_);
          kill(is_for_group(number) ? -pid_ : pid_, number);
        }
      }
    }
  }

  bool is_stopped() const { return is_stopped_; }

 private:
  // The exit code when the program has ended.
  std::optional<int> see_child() {
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG | WUNTRACED) == pid_) {
      if (!WIFSTOPPED(status)) {
        take_terminal();
        return WIFSIGNALED(status) ? kExitSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
      }
      see_stop(WSTOPSIG(status));
    }
    return std::nullopt;
  }

  // A program that wants to read from the terminal, or to set it up, is stopped in the background:
  // then it gets the terminal, and from there on its signals directly.
  void see_stop(int number) {
    if ((number == SIGTTIN || number == SIGTTOU) && terminal_.is_ours()) {
      give_terminal();
      kill(-pid_, SIGCONT);
    } else if (number == SIGTTIN || number == SIGTTOU || number == SIGTSTP) {
      stop_with_program();
    }
  }

  void suspend() {
    kill(-pid_, SIGTSTP);
    stop_with_program();
  }

  // So that the shell sees its job stopped, and both go on when it continues it.
  void stop_with_program() {
    const bool had_terminal = has_terminal_;
    observer_.terminal_given();
    take_terminal();
    raise(SIGSTOP);
    if (had_terminal && terminal_.is_ours()) give_terminal();
    kill(-pid_, SIGCONT);
  }

  void give_terminal() {
    observer_.terminal_given();
    terminal_.give_to(pid_);
    has_terminal_ = true;
  }
  void take_terminal() {
    if (std::exchange(has_terminal_, false)) terminal_.give_to(getpgrp());
  }

  const pid_t pid_;  // also its process group
  const LauncherSignals& signals_;
  LaunchObserver& observer_;
  JobTerminal terminal_;
  bool has_terminal_ = false;  // the program
  bool is_stopped_ = false;
};

}  // namespace

base::Result<LaunchEnd> launch(const Launch& launch, LaunchObserver& observer) {
  const LauncherSignals signals;
  const auto pid = start(launch, signals);
  if (!pid) return pid.status();
  Supervisor supervisor(*pid, signals, observer);
  const int exit_code = supervisor.run(launch.pace);
  // A program that has the terminal gets its signals directly.
  const bool is_stopped = supervisor.is_stopped() ||
                          (exit_code > kExitSignalBase && stops(exit_code - kExitSignalBase));
  signals.leave_with(exit_code);
  return LaunchEnd{*pid, exit_code, is_stopped};
}

bool stop_came_late() { return has_late_stop != 0; }

}  // namespace gpufl::cli
