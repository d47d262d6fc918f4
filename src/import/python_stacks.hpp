// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "format/log_writer.hpp"
#include "import/thread_spans.hpp"
#include "import/trace.hpp"

// Stacks of the log for functions of Python that a trace shows as nested spans. A stack is made
// when it is first asked for, once for all spans that stand on the same functions. One thread.
namespace gpufl::importing {

class PythonStacks {
 public:
  // All must outlive it. `spans` are those of trace.python.
  PythonStacks(const Trace& trace, const ThreadSpans& spans, format::LogWriter& log)
      : trace_(trace), spans_(spans), log_(log), nodes_(trace.python.size(), kNoNode) {}

  // The id of the stack whose innermost function is that span; 0: ThreadSpans::kNone.
  int64_t id_of(uint32_t span);

 private:
  static constexpr uint32_t kNoNode = UINT32_MAX;
  struct Node {
    uint32_t outer;  // kNoNode: the outermost
    int64_t frame;
    int64_t stack = 0;  // 0: not asked for yet
  };
  uint32_t node_of(uint32_t span);
  int64_t frame_of(uint32_t name);

  const Trace& trace_;
  const ThreadSpans& spans_;
  format::LogWriter& log_;
  std::vector<uint32_t> nodes_;  // by span
  std::vector<Node> tree_;
  std::map<std::pair<uint32_t, int64_t>, uint32_t> by_place_;  // outer node and frame
  std::vector<int64_t> frames_;                                // by name; 0: not interned yet
};

// "train.py(12): step" as torch.profiler says it. `line` 0: it says only a function.
struct PythonPlace {
  std::string_view function, file;
  int64_t line = 0;
};
PythonPlace parse_python_name(std::string_view name);

}  // namespace gpufl::importing
