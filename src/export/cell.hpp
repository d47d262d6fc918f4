// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "format/words.hpp"

// A cell of a session's tables: its type, what its column is, and who takes its value.
namespace gpufl::exporting {

inline constexpr int64_t kUnknownCell = std::numeric_limits<int64_t>::min();

// Takes the value of one cell; called once for it.
class CellSink {
 public:
  virtual ~CellSink() = default;
  virtual void unknown() = 0;
  virtual void integer(int64_t value) = 0;
  virtual void id(uint64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void text(std::string_view value) = 0;
};

enum class CellType : uint8_t {
  Time,      // nanoseconds since the session's start
  Duration,  // nanoseconds
  Integer,
  Id,  // 64 bits without a sign
  Real,
  Text,
};
std::string_view to_string(CellType type);

// What a column of a table is.
struct ColumnHead {
  std::string name;
  CellType type = CellType::Integer;
  std::string_view unit = {};                // of its numbers, for people; empty: none
  std::string_view meaning = {};             // likewise: a part of a sentence
  std::span<const format::Word> words = {};  // that a text can be; empty: any
};

}  // namespace gpufl::exporting
