// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "format/log_writer.hpp"
#include "symbols/stack_table.hpp"

// Stacks on their way from the program's threads into a session's log: ThreadStacks takes them
// there, StackLog writes each once, with the modules that their frames lie in. One session's, for
// the collector's thread; both are cheap for a stack that was seen before.
namespace gpufl::capture {

class ThreadStacks final : public backend::StackRecorder {
 public:
  uint32_t record() noexcept override { return table_.record(); }

 private:
  symbols::StackTable& table_ = symbols::StackTable::instance();
};

// Python functions alone, for annotations of a framework. Makes the table when it is first needed:
// the program's own code calls it, not a vendor's.
class PythonStacks final : public backend::StackRecorder {
 public:
  constexpr PythonStacks() = default;
  uint32_t record() noexcept override {
    return symbols::StackTable::instance().record_python_line();
  }
};

class StackLog {
 public:
  // Borrows `log`.
  StackLog(format::LogWriter& log, int64_t session_start_ns)
      : log_(log), session_start_ns_(session_start_ns) {}

  // The log's id of a stack that ThreadStacks::record() gave; 0 for 0.
  int64_t id(uint32_t recorded);

 private:
  int64_t write_frame(const symbols::StackFrame& frame);
  void write_module(const symbols::StackFrame& frame);

  format::LogWriter& log_;
  const int64_t session_start_ns_;
  symbols::StackTable& table_ = symbols::StackTable::instance();
  std::vector<int64_t> ids_;                               // by recorded id; 0: not written
  std::set<std::pair<std::string, std::string>> modules_;  // path and build id of those written
};

// What a reader is shown: frames of the vendor's libraries and of our own, which say nothing to
// someone who reads a program, become one symbols::kDriverInternal for each run of them. A
// vendor's runtime that is linked into the program cannot be told from it and stays.
std::vector<symbols::StackFrame> fold_driver_frames(std::vector<symbols::StackFrame> frames);

}  // namespace gpufl::capture
