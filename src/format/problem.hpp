// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpufl::format {

// Something that is wrong with a log, or newer than its reader. Plain data.
struct Problem {
  enum class Kind : uint8_t {
    TornLine,
    BadLine,
    BadWindow,
    MissingWindow,
    HashMismatch,
    UnknownId,
    TimeOutOfRange,
    UnknownKind,
    UnknownColumn,
    NewerFormat,
    Oversized,
    ManifestMismatch,
    Unreadable,
  };
  Kind kind;
  std::string file;
  uint64_t line = 0;  // 1-based, 0: the whole file
  std::string text;
};
std::string_view to_string(Problem::Kind kind);
// Something newer that this version passes over: told, but no loss.
constexpr bool is_growth(const Problem& problem) {
  return problem.kind == Problem::Kind::UnknownKind || problem.kind == Problem::Kind::UnknownColumn;
}

}  // namespace gpufl::format
