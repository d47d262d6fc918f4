// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/code/code_site.hpp"
#include "symbols/code_stack.hpp"
#include "symbols/session_frames.hpp"
#include "symbols/symbol_file.hpp"

// What stands behind the stack ids of one session: frames as people read them, and the line of the
// program's own. Everything is resolved when it is made; constant afterwards, any thread.
namespace gpufl::analysis {

class CodeMap {
 public:
  CodeMap() = default;
  CodeMap(const symbols::SessionFrames& frames, const symbols::SymbolFile& symbols);

  // Innermost first; empty: no stack, or not in the log.
  const std::vector<symbols::CodeFrame>& frames(uint32_t stack) const;
  // The innermost line of the program's own; its text is empty where there is no stack.
  const CodeSite& site(uint32_t stack) const;
  // "cudaMemcpy"; empty: no symbol tells.
  const std::string& api_function(uint32_t stack) const;
  // The text that was kept around the site's line; null: none was.
  const symbols::SourceText* source(const CodeSite& site) const;
  bool empty() const { return stacks_.empty(); }
  // The program's own binaries that tell nothing, and why.
  const std::vector<symbols::BinaryNote>& unresolved() const { return unresolved_; }

 private:
  struct Entry {
    std::vector<symbols::CodeFrame> frames;
    CodeSite site;
    std::string api_function;
  };
  const Entry& entry(uint32_t stack) const;

  std::unordered_map<uint32_t, Entry> stacks_;
  std::unordered_map<std::string, std::vector<symbols::SourceText>> sources_;  // by path
  std::vector<symbols::BinaryNote> unresolved_;
};

}  // namespace gpufl::analysis
