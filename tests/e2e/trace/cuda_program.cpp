// SPDX-License-Identifier: Apache-2.0
// `cuda_program STEP...`: a program that uses CUDA, over the stand-ins of libcuda and libcupti, and
// knows nothing of us. It does one step after the other:
//
//   cuda            initialises CUDA: the driver loads what CUDA_INJECTION64_PATH names
//   launch:N        launches N kernels       copy:N   copies N times     wait    waits for the GPU
//   code            gives the GPU something to sample and to count in program_kernel
//   counters        makes a context, and gives the GPU hardware counters
//   kernel:NAME     launches one kernel of that name
//   hang            launches a kernel that does not end
//   say:TEXT        prints a line            maps     prints whether libcupti is mapped
//   await:FILE      goes on when FILE exists          launch_until:FILE  launches meanwhile
//   contexts_until:FILE  likewise, and makes a context each time
//   sleep:MS        sleeps
//   children:N      runs itself N times with the steps after it, at once, as ranks 0 to N-1; ends
//                   with the highest of their codes
//   daemon          goes on in a process of a session of its own, while the first one ends
//   fork            goes on in a child of fork(), whose code is its own
//   catch:N         signal N is caught, and said
//   bare            drops every environment variable
//   exit:N          ends with N              kill:N   ends itself with signal N
//   leave:N         ends with N by _exit, so that nothing that is to run at exit does
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/trace/standin_gpu.hpp"

namespace {

using gpufl::standin::give_code;
using gpufl::standin::gpu;
using gpufl::standin::init_cuda;
using gpufl::standin::launch;
using namespace std::chrono_literals;

void say(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

bool has_mapped(const char* name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(name) != std::string::npos) return true;
  }
  return false;
}

int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int run_children(int count, char** steps) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      setenv("RANK", std::to_string(i).c_str(), 1);
      setenv("WORLD_SIZE", std::to_string(count).c_str(), 1);
      std::vector<char*> arguments{const_cast<char*>("cuda_program")};
      while (*steps != nullptr) arguments.push_back(*steps++);
      arguments.push_back(nullptr);
      execv(program.c_str(), arguments.data());
      _exit(98);
    }
    children.push_back(child);
  }
  int worst = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    worst = std::max(worst, code_of(status));
  }
  return worst;
}

void become_daemon() {
  if (fork() != 0) std::_Exit(0);
  setsid();
  const int nothing = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(nothing, fd);
}

void go_on_in_child() {
  const pid_t child = fork();
  if (child == 0) return;
  int status = 0;
  waitpid(child, &status, 0);
  std::exit(code_of(status));
}

void on_signal(int number) {
  const char text[] = {'c',
                       'a',
                       'u',
                       'g',
                       'h',
                       't',
                       ' ',
                       static_cast<char>('0' + number / 10),
                       static_cast<char>('0' + number % 10),
                       '\n'};
  (void)!write(STDOUT_FILENO, text, sizeof text);
}

// A test that failed makes the file no more, and may be unable to end us.
bool is_there(const std::string& file) {
  static const auto deadline = std::chrono::steady_clock::now() + 5min;
  if (std::chrono::steady_clock::now() > deadline) std::_Exit(96);
  return std::filesystem::exists(file);
}

void step(const std::string& name, const std::string& value, char** later) {
  const int number = static_cast<int>(std::strtol(value.c_str(), nullptr, 10));
  if (name == "cuda") {
    init_cuda();
  } else if (name == "launch") {
    launch(number);
  } else if (name == "copy") {
    for (int i = 0; i < number; ++i) gpu().copy({});
  } else if (name == "wait") {
    gpu().synchronize(1);
  } else if (name == "code") {
    give_code();
  } else if (name == "counters") {
    gpufl::standin::give_hardware_counters();
    gpufl::standin::make_context();
  } else if (name == "kernel") {
    static auto& names = *new std::deque<std::string>;  // read to the very end of the process
    gpu().launch({.name = names.emplace_back(value).c_str()});
  } else if (name == "hang") {
    gpu().launch({.name = "hanging_kernel", .runs_on = true});
  } else if (name == "say") {
    say(value);
  } else if (name == "maps") {
    say(has_mapped("libcupti") ? "libcupti is mapped" : "libcupti is not mapped");
  } else if (name == "await") {
    while (!is_there(value)) std::this_thread::sleep_for(2ms);
  } else if (name == "launch_until") {
    while (!is_there(value)) {
      launch(10);
      std::this_thread::sleep_for(2ms);
    }
  } else if (name == "contexts_until") {
    while (!is_there(value)) {
      gpufl::standin::make_context();
      launch(10);
      std::this_thread::sleep_for(50ms);
    }
  } else if (name == "sleep") {
    std::this_thread::sleep_for(std::chrono::milliseconds(number));
  } else if (name == "children") {
    std::exit(run_children(number, later));
  } else if (name == "daemon") {
    become_daemon();
  } else if (name == "fork") {
    go_on_in_child();
  } else if (name == "catch") {
    std::signal(number, on_signal);
  } else if (name == "bare") {
    clearenv();
  } else if (name == "exit") {
    std::exit(number);
  } else if (name == "leave") {
    _exit(number);
  } else if (name == "kill") {
    std::raise(number);
  } else {
    std::fprintf(stderr, "cuda_program: no step %s\n", name.c_str());
    std::_Exit(97);
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const size_t colon = text.find(':');
    step(text.substr(0, colon), colon != std::string::npos ? text.substr(colon + 1) : "",
         argv + i + 1);
  }
  return 0;
}
