// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/session/session_data.hpp"

// Lines of the program for calls whose own stack reaches none: a thread of a framework (PyTorch's
// backward passes) launches for a line of another thread, which waits. Such a call inherits the
// line of the latest call of the only thread that had lines of the program at that time; where
// there are two such threads, it has none. Reads every row once when it is made; constant
// afterwards, any thread. Borrows the session.
namespace gpufl::analysis {

struct InheritedLine {
  const CodeSite* site;  // its text is empty where there is no stack; never null
  uint32_t stack = 0;    // that it is of
  bool inherited = false;
};

class InheritedLines {
 public:
  explicit InheritedLines(const SessionData& session);

  // Of the call behind a row of one of the session's tables. Rows without a stack have no line.
  InheritedLine at(const Work& work, size_t row) const;

 private:
  // Calls with a line of the program, made by one thread; of several with the same stack in a row
  // the first.
  struct Caller {
    int64_t thread = 0;
    int64_t last_ns = 0;
    std::vector<int64_t> times;
    std::vector<uint32_t> stacks;
  };

  static constexpr size_t kNobody = SIZE_MAX;
  // From a time on, until that of the next one.
  struct Change {
    int64_t time_ns;
    size_t only;  // the only one of callers_; kNobody: there is none, or more than one
  };

  void add(const Work& work);
  void find_changes();
  int64_t thread_of(const Work& work, size_t row) const;
  const Caller* only_caller(int64_t time_ns) const;

  const SessionData& session_;
  std::unordered_set<uint32_t> reaching_;  // stacks
  std::vector<Caller> callers_;
  std::vector<Change> changes_;
  std::unordered_map<int64_t, size_t> caller_of_thread_;
};

}  // namespace gpufl::analysis
