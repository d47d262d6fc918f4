// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>

// A place in the program's own code, as stacks lead to it. Plain data.
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

// "train.py:90"; without a line what the site says of itself.
std::string short_line(const CodeSite& site);

}  // namespace gpufl::analysis
