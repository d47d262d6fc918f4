// SPDX-License-Identifier: Apache-2.0
#include "tests/device/programs.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

namespace gpufl::device_test {
namespace {

struct Child {
  pid_t pid = -1;
  int output = -1;
};

Child spawn(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  int ends[2];
  if (pipe(ends) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  Child child;
  const int error =
      posix_spawnp(&child.pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return {};
  }
  child.output = ends[0];
  return child;
}

int exit_code(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::filesystem::path bin_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

Outcome run(const std::vector<std::string>& command) {
  const Child child = spawn(command);
  Outcome outcome;
  if (child.pid < 0) {
    outcome.exit_code = 127;
    return outcome;
  }
  char buffer[4096];
  for (ssize_t n = 0; (n = read(child.output, buffer, sizeof(buffer))) > 0;) {
    outcome.output.append(buffer, static_cast<size_t>(n));
  }
  close(child.output);
  int status = 0;
  waitpid(child.pid, &status, 0);
  outcome.exit_code = exit_code(status);
  return outcome;
}

Background::Background(const std::vector<std::string>& command) {
  const Child child = spawn(command);
  pid_ = child.pid;
  output_ = child.output;
  for (char c = 0; pid_ > 0 && read(output_, &c, 1) == 1 && c != '\n';) first_line_ += c;
}

Background::~Background() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  close(output_);
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "gpufl-device-XXXXXX").string();
  path_ = mkdtemp(pattern.data()) != nullptr ? pattern : std::string();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace gpufl::device_test
