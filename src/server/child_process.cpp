// SPDX-License-Identifier: Apache-2.0
#include "server/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "base/json.hpp"

namespace gpufl::server {
namespace {

using base::Code;
using base::Status;

constexpr size_t kLongestLine = size_t{64} << 10;

Code code_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Code::Internal); ++i) {
    if (name == to_string(static_cast<Code>(i))) return static_cast<Code>(i);
  }
  return Code::Internal;
}

// What posix_spawn needs, gone with the object.
class SpawnPlan {
 public:
  SpawnPlan(int output, int report) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, report, kReportFd);
    // Sockets of clients would stay open for as long as the child runs.
    posix_spawn_file_actions_addclosefrom_np(&actions, kReportFd + 1);
    posix_spawnattr_init(&attributes);
    // Signals as a fresh program has them; a session that a terminal's Ctrl-C does not reach,
    // because the server ends its children itself. What a child starts may have a group of its own,
    // and stays in the session.
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// Whether a process is of that session, and runs.
bool runs_in_session(const std::string& process, pid_t session) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  // Behind the name, which may contain anything: state, parent, group, session.
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream fields(line.substr(name_end + 1));
  char state = 0;
  pid_t parent = 0, group = 0, its_session = 0;
  fields >> state >> parent >> group >> its_session;
  return its_session == session && state != 'Z';
}

// Everything of a session, again until there is nothing that was started meanwhile.
void kill_session(pid_t session) {
  std::set<pid_t> killed;
  for (bool has_found = true; has_found;) {
    has_found = false;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
      const std::string name = entry.path().filename().string();
      pid_t process = 0;
      const auto parsed = std::from_chars(name.data(), name.data() + name.size(), process);
      if (parsed.ptr != name.data() + name.size() || !runs_in_session(name, session)) continue;
      ::kill(process, SIGKILL);
      has_found = killed.insert(process).second || has_found;
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<ChildProcess>> ChildProcess::start(
    const std::vector<std::string>& command, int output) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return Status::from_errno(errno, "pipe");
  // Above those that the plan assigns: dup2 onto itself would leave it to be closed by exec.
  const int report = ::fcntl(pipe[1], F_DUPFD_CLOEXEC, kReportFd + 1);
  const int out = ::fcntl(output, F_DUPFD_CLOEXEC, kReportFd + 1);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const SpawnPlan plan(out, report);
  pid_t pid = 0;
  int error = report < 0 || out < 0 ? EMFILE : 0;
  if (error == 0) {
    error = ::posix_spawn(&pid, words[0], &plan.actions, &plan.attributes, words.data(), environ);
  }
  for (const int fd : {report, out, pipe[1]}) {
    if (fd >= 0) ::close(fd);
  }
  if (error != 0) {
    ::close(pipe[0]);
    return Status::from_errno(error, command.front());
  }
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, pipe[0]));
}

ChildProcess::~ChildProcess() {
  if (!has_ended_) {
    kill();
    reap();
  }
  ::close(report_);
}

void ChildProcess::kill() {
  if (has_ended_) return;
  was_killed_ = true;
  ::kill(pid_, SIGKILL);
}

bool ChildProcess::is_over(bool waits) const {
  siginfo_t info{};
  const int options = WEXITED | WNOWAIT | (waits ? 0 : WNOHANG);
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, options) != 0) {
    if (errno != EINTR) return true;
  }
  return info.si_pid != 0;
}

void ChildProcess::reap() {
  is_over(true);
  // Before it is reaped its number, which is the session's, is nobody else's.
  kill_session(pid_);
  rusage used{};
  while (::wait4(pid_, &wait_status_, 0, &used) < 0 && errno == EINTR) {
  }
  const auto time_of = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  cpu_time_ = time_of(used.ru_utime) + time_of(used.ru_stime);
  has_ended_ = true;
}

bool ChildProcess::wait(std::chrono::milliseconds at_most) {
  if (has_ended_) return true;
  pollfd waiting{report_, POLLIN, 0};
  ::poll(&waiting, 1, static_cast<int>(at_most.count()));
  // Asked before its reports are read, so that none is missed.
  const bool has_ended = is_over(false);
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t got = ::read(report_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && !has_ended) return false;  // nothing more for now
    // It closes its end by ending. What it has started may have the other still.
    if (got <= 0) break;
    partial_.append(buffer.data(), static_cast<size_t>(got));
    for (size_t end; (end = partial_.find('\n')) != std::string::npos;) {
      take_line(std::string_view(partial_).substr(0, end));
      partial_.erase(0, end + 1);
    }
    if (partial_.size() > kLongestLine) partial_.clear();
  }
  reap();
  return true;
}

void ChildProcess::take_line(std::string_view line) {
  const auto parsed = base::Json::parse(line);
  if (!parsed) return;
  if (const base::Json* progress = parsed->find("progress")) progress_ = progress->as_number();
  if (const base::Json* status = parsed->find("status")) {
    const Code code = code_named(status->as_string());
    reported_ = code == Code::Ok ? Status() : Status(code, (*parsed)["message"].as_string());
  }
}

bool ChildProcess::ran_out_of_memory() const {
  return WIFEXITED(wait_status_) && WEXITSTATUS(wait_status_) == kExitOutOfMemory;
}

Status ChildProcess::outcome() const {
  const bool has_exited = WIFEXITED(wait_status_);
  if (ran_out_of_memory()) {
    return {Code::LimitReached, "it needs more memory than --analysis-memory allows"};
  }
  if (was_killed_) return {Code::Cancelled, "it was stopped"};
  if (reported_ && (!reported_->is_ok() || (has_exited && WEXITSTATUS(wait_status_) == 0))) {
    return *reported_;
  }
  if (has_exited) {
    return {Code::Internal, fmt::format("the analysis ended with code {} and said nothing",
                                        WEXITSTATUS(wait_status_))};
  }
  // Not by us: by the system, whose memory others may have taken, or by hand.
  if (WTERMSIG(wait_status_) == SIGKILL) {
    return {Code::Unavailable,
            "the analysis was killed, which the system does when its memory runs out"};
  }
  return {Code::Internal,
          fmt::format("the analysis was ended by signal {}", WTERMSIG(wait_status_))};
}

}  // namespace gpufl::server
