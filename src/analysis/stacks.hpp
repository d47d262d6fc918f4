// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/distribution.hpp"
#include "base/json.hpp"
#include "format/batch.hpp"
#include "symbols/code_stack.hpp"
#include "symbols/session_frames.hpp"
#include "symbols/symbol_file.hpp"

// Which lines of the program waited for the GPU, and which launched its work. Memory grows with
// distinct stacks, not with rows. One thread.
namespace gpufl::analysis {

inline constexpr uint32_t kNoStack = 0;
// A log's id as CodeMap knows it; one that no writer gives becomes kNoStack.
constexpr uint32_t stack_id(int64_t id) {
  return id > 0 && id < int64_t{UINT32_MAX} ? static_cast<uint32_t>(id) : kNoStack;
}

// A place in the program's own code.
struct CodeSite {
  std::string text;       // "train.py:90 in train_step()", "<driver-internal>"; empty: no stack
  std::string file;       // whole path; empty: unknown
  int64_t line = 0;       // 0: unknown
  std::string source;     // the text of that line, where it was kept
  bool is_newer = false;  // that text changed after the recording began
  auto operator<=>(const CodeSite&) const = default;
};

// Waits by one call at one line.
struct WaitSite {
  CodeSite site;
  std::string call;  // "cudaStreamSynchronize"; without symbols "StreamSynchronize"
  Distribution blocked_ns;
};

// Kernels launched at one line.
struct LaunchSite {
  CodeSite site;
  Distribution gpu_ns;
};

struct CodeSummary {
  std::vector<WaitSite> waits;       // most blocked time first
  std::vector<LaunchSite> launches;  // most GPU time first; empty when no kernel has a stack
  Distribution blocked_ns, gpu_ns;   // of all waits; of all kernels
  uint64_t stacks = 0;               // distinct ones
  // The program's own binaries that tell nothing, and why.
  std::vector<symbols::BinaryNote> unresolved;
};

class CodeMap;

class StackFigures {
 public:
  void define(const base::Json& dict_line) { frames_.add(dict_line); }
  void add_waits(const format::Batch& rows);
  void add_kernels(const format::Batch& rows);

  const symbols::SessionFrames& frames() const { return frames_; }
  // `code` is made of the same frames and symbols.
  CodeSummary finish(const symbols::SymbolFile& symbols, const CodeMap& code) const;

 private:
  symbols::SessionFrames frames_;
  std::map<std::pair<int64_t, int64_t>, Distribution> waits_;  // by stack and kind of wait
  std::unordered_map<int64_t, Distribution> kernels_;          // by stack
};

}  // namespace gpufl::analysis
