// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

// A process that measures when it is asked to: for what cannot be switched inside one process. Its
// program says "ready" on stdout, and after that one number for every line it reads from stdin,
// until that is closed. Several can be warm at the same time and be asked in turn. One thread. When
// one is gone, the program that asks says so and ends with 2.
namespace gpufl::bench {

class Worker {
 public:
  // Starts this program again with `arguments`, in this environment and `variables`.
  Worker(const std::vector<std::string>& arguments,
         const std::vector<std::pair<std::string, std::string>>& variables);
  ~Worker() { end(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void wait_until_ready();
  double ask() {
    put_question();
    return answer();
  }
  // The two halves, so that several can work at the same time.
  void put_question();
  double answer();
  int end();  // closes its stdin and waits; its exit code, -1 where there is none

 private:
  std::string read_line();

  pid_t pid_ = -1;
  int input_ = -1, output_ = -1;
};

// The other side: says "ready" and answers with measure() until nobody asks any more.
void answer_questions(const std::function<double()>& measure);

}  // namespace gpufl::bench
