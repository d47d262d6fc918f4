// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/code/code_site.hpp"
#include "analysis/math/distribution.hpp"
#include "base/json.hpp"
#include "format/batch.hpp"
#include "symbols/code_stack.hpp"
#include "symbols/session_frames.hpp"
#include "symbols/symbol_file.hpp"

// Which lines of the program waited for the GPU, and which launched its work. Memory grows with
// distinct stacks, not with rows. One thread.
namespace gpufl::analysis {

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
