// SPDX-License-Identifier: Apache-2.0
#include "base/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

extern char** environ;

namespace gpufl::base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxErrorBytes = size_t{4} << 10;

struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

// A text to read, behind a descriptor.
class TextToRead {
 public:
  explicit TextToRead(const std::string& text) {
    std::array<int, 2> ends{-1, -1};
    // Not a pipe: no signal comes where nobody reads it.
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
    is_whole_ = ::send(ends[1], text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
                static_cast<ssize_t>(text.size());
    ::close(ends[1]);
    fd_ = ends[0];
  }
  ~TextToRead() {
    if (fd_ >= 0) ::close(fd_);
  }
  TextToRead(const TextToRead&) = delete;
  TextToRead& operator=(const TextToRead&) = delete;

  bool is_whole() const { return is_whole_; }
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
  bool is_whole_ = false;
};

// Those of a terminal and of its end that this process ignores, as nohup has it.
void leave_ignored(sigset_t& defaults) {
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    struct sigaction now{};
    const bool is_ignored = sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
    if (is_ignored) sigdelset(&defaults, number);
  }
}

// What a child starts with: its own process group, default signals, no descriptor but those named.
class SpawnPlan {
 public:
  // `text`: its standard input; -1: nothing.
  SpawnPlan(int out, int err, int text, const ChildSetup& setup) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    if (!setup.shows_errors) posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
    if (text >= 0) {
      posix_spawn_file_actions_adddup2(&actions_, text, STDIN_FILENO);
    } else {
      posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    const bool has_input = setup.input >= 0;
    if (has_input) posix_spawn_file_actions_adddup2(&actions_, setup.input, kChildInput);
    posix_spawn_file_actions_addclosefrom_np(&actions_, has_input ? kChildInput + 1 : kChildInput);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (setup.is_in_our_group) leave_ignored(all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    const int group = setup.is_in_our_group ? 0 : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(
        &attributes_, static_cast<short>(group | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK));
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // 0 or an errno.
  int start(const std::filesystem::path& program, const std::vector<std::string>& arguments,
            const ChildSetup& setup, pid_t& child) const {
    const std::string name = program.string();
    std::vector<char*> argv{const_cast<char*>(name.c_str())};
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    std::vector<char*> variables;
    if (setup.environment) {
      for (const std::string& variable : *setup.environment) {
        variables.push_back(const_cast<char*>(variable.c_str()));
      }
      variables.push_back(nullptr);
    }
    return posix_spawn(&child, name.c_str(), &actions_, &attributes_, argv.data(),
                       setup.environment ? variables.data() : environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

class Child {
 public:
  Child(pid_t pid, bool has_group, Clock::time_point deadline)
      : pid_(pid), has_group_(has_group), deadline_(deadline) {}
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(has_group_ ? -pid_ : pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int milliseconds_left() const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
    return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000));
  }
  // False: the time is over.
  bool wait(int& exit_code) {
    int status = 0;
    for (pid_t ended = 0; ended != pid_;) {
      ended = ::waitpid(pid_, &status, WNOHANG);
      if (ended < 0 && errno != EINTR) break;  // somebody else waited for it
      if (ended == 0) {
        if (milliseconds_left() == 0) return false;
        ::poll(nullptr, 0, 1);
      }
    }
    // What it may have started and left behind.
    if (has_group_) ::kill(-pid_, SIGKILL);
    pid_ = 0;
    exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
  }

 private:
  pid_t pid_;
  const bool has_group_;
  Clock::time_point deadline_;
};

// Takes what is there. False: that was the end.
bool drain(int fd, std::string& text, size_t most) {
  std::array<char, size_t{64} << 10> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  text.append(buffer.data(),
              std::min(static_cast<size_t>(got), most - std::min(most, text.size())));
  return got > 0;
}

}  // namespace

Result<ChildOutput> run_child(const std::filesystem::path& program,
                              const std::vector<std::string>& arguments, const ChildSetup& setup,
                              const ChildLimits& limits) {
  const std::string name = program.string();
  Pipe out, err;
  if (out.read_end < 0 || err.read_end < 0) return Status::from_errno(errno, "pipe2()");
  std::optional<TextToRead> text;
  if (!setup.text.empty()) text.emplace(setup.text);
  if (text && !text->is_whole()) return Status::from_errno(errno, "socketpair()");
  pid_t pid = 0;
  const SpawnPlan plan(out.write_end, err.write_end, text ? text->fd() : -1, setup);
  const int error = plan.start(program, arguments, setup, pid);
  if (error != 0) return Status::from_errno(error, name);
  Pipe::close_end(out.write_end);
  Pipe::close_end(err.write_end);
  Child child(pid, !setup.is_in_our_group, Clock::now() + limits.time);
  const auto too_long = [&] {
    return Status(Code::LimitReached, name + " had not finished after " +
                                          std::to_string(limits.time.count() / 1000) +
                                          " s and was stopped");
  };
  ChildOutput output;
  while (out.read_end >= 0 || err.read_end >= 0) {
    std::array<pollfd, 2> ends{pollfd{out.read_end, POLLIN, 0}, pollfd{err.read_end, POLLIN, 0}};
    const int ready = ::poll(ends.data(), ends.size(), child.milliseconds_left());
    // Also where it goes on printing.
    if (ready == 0 || child.milliseconds_left() == 0) return too_long();
    if (ready < 0 && errno != EINTR) return Status::from_errno(errno, "poll()");
    if (ready < 0) continue;
    // One byte more than the limit shows that there is more.
    if (ends[0].revents != 0 && !drain(out.read_end, output.out, limits.output_bytes + 1)) {
      Pipe::close_end(out.read_end);
    }
    if (ends[1].revents != 0 && !drain(err.read_end, output.err, kMaxErrorBytes)) {
      Pipe::close_end(err.read_end);
    }
    if (output.out.size() > limits.output_bytes) {
      return Status(Code::LimitReached, name + " printed more than " +
                                            std::to_string(limits.output_bytes >> 20) +
                                            " MiB and was stopped");
    }
  }
  if (!child.wait(output.exit_code)) return too_long();
  return output;
}

}  // namespace gpufl::base
