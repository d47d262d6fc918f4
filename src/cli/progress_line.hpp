// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "cli/status_line.hpp"
#include "workbench/open.hpp"

// How far a command is, at the bottom of the terminal: from when one begins to wonder, a few times
// a second. Gone with the object. One thread.
namespace gpufl::cli {

class ProgressLine {
 public:
  explicit ProgressLine(bool is_wanted = true);

  // "gpufl: reading, 45%". `what` may come from a file's name.
  void show(std::string_view what, uint64_t done, uint64_t total);
  // What use cases call; it refers to this.
  workbench::Progress callback();

 private:
  StatusLine line_;
  int64_t next_ns_;
};

// What `work` returns, which is given a callback to tell its progress to.
template <typename Work>
auto with_progress(Work work) {
  ProgressLine line;
  return work(line.callback());
}

}  // namespace gpufl::cli
