// SPDX-License-Identifier: Apache-2.0
#include "tests/device/programs.hpp"

#include <fcntl.h>
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
  int input = -1;  // its stdin, which is empty and lasts until this is closed
  int output = -1;
};

Child spawn(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) != 0) return {};
  if (pipe2(output, O_CLOEXEC) != 0) {
    close(input[0]);
    close(input[1]);
    return {};
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDERR_FILENO);
  Child child;
  const int error =
      posix_spawnp(&child.pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(input[0]);
  close(output[1]);
  if (error != 0) {
    close(input[1]);
    close(output[0]);
    return {};
  }
  child.input = input[1];
  child.output = output[0];
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
  close(child.input);
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
  input_ = child.input;
  output_ = child.output;
  for (char c = 0; pid_ > 0 && read(output_, &c, 1) == 1 && c != '\n';) first_line_ += c;
}

Background::~Background() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  close(input_);
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
