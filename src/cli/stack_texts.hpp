// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "format/flat_row.hpp"
#include "format/session_reader.hpp"
#include "symbols/session_frames.hpp"
#include "symbols/symbol_file.hpp"

// Names and stacks of a session for `gpufl cat`: kernels demangled, stacks with symbols. Each stack
// is worked out once. One thread.
namespace gpufl::cli {

struct StackTextOptions {
  bool whole_stacks = false;   // every frame; else the line of the program only
  bool mangled_names = false;  // as the log has them
};

class StackTexts final : public format::FlatTexts {
 public:
  // For rows of `kind`; reads the session's frames where such rows have stacks.
  StackTexts(const format::SessionReader& session, format::Kind kind, StackTextOptions options);
  std::string function(std::string_view name) const override;
  void append_stack(int64_t id, std::string& out) override;

 private:
  std::string members_of(int64_t id) const;

  StackTextOptions options_;
  symbols::SessionFrames frames_;
  symbols::SymbolFile symbols_;
  std::unordered_map<int64_t, std::string> members_;
};

}  // namespace gpufl::cli
