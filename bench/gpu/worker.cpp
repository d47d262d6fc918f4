// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu/worker.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace gpufl::bench {

Worker::Worker(const std::vector<std::string>& arguments,
               const std::vector<std::pair<std::string, std::string>>& variables) {
  ::signal(SIGPIPE, SIG_IGN);
  int questions[2], answers[2];
  if (pipe2(questions, O_CLOEXEC) != 0) return;
  if (pipe2(answers, O_CLOEXEC) != 0) {
    close(questions[0]);
    close(questions[1]);
    return;
  }
  std::vector<std::string> words = {program_invocation_name}, settings;
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (const auto& [name, value] : variables) settings.push_back(name + "=" + value);
  std::vector<char*> argument_pointers, environment;
  for (std::string& word : words) argument_pointers.push_back(word.data());
  argument_pointers.push_back(nullptr);
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  for (std::string& setting : settings) environment.push_back(setting.data());
  environment.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, questions[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answers[1], STDOUT_FILENO);
  if (posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argument_pointers.data(),
                  environment.data()) != 0) {
    pid_ = -1;
  }
  posix_spawn_file_actions_destroy(&actions);
  close(questions[0]);
  close(answers[1]);
  input_ = questions[1];
  output_ = answers[0];
}

int Worker::end() {
  for (int* fd : {&input_, &output_}) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
  int status = 0;
  if (pid_ <= 0 || waitpid(pid_, &status, 0) != pid_) return -1;
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string Worker::read_line() {
  std::string line;
  for (char c = 0; read(output_, &c, 1) == 1 && c != '\n';) line += c;
  if (line.empty()) {
    std::fprintf(stderr, "%s: a process that measures is gone\n", program_invocation_short_name);
    std::exit(2);
  }
  return line;
}

void Worker::wait_until_ready() { read_line(); }

void Worker::put_question() {
  // One that is gone shows in what it does not answer.
  [[maybe_unused]] const ssize_t written = write(input_, "\n", 1);
}

double Worker::answer() { return std::strtod(read_line().c_str(), nullptr); }

void answer_questions(const std::function<double()>& measure) {
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) std::cout << measure() << std::endl;
}

}  // namespace gpufl::bench
