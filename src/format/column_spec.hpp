// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "format/columns.hpp"
#include "format/words.hpp"

// What is known of a column of a kind that comes in batches. Included through format/schema.hpp.
namespace gpufl::format {

// What ids of a column refer to. Values are strings, but for Config, Stack and Frame, whose values
// are JSON objects.
enum class Dict : uint8_t { None, Name, Text, Metric, Config, Stack, Frame };
inline constexpr size_t kDictCount = static_cast<size_t>(Dict::Frame) + 1;

enum class ColumnType : uint8_t {
  Time,      // nanoseconds since the session's start
  Duration,  // nanoseconds
  Integer,   // anything that fits int64; the unit is in the name
  DictId,    // an id of `dict`
  Id64,      // a 64-bit id: a decimal string on disk
};

// How the writer says a column in few bytes (SPEC.md, "Codings"). It may always fall back to a
// plain list or to a scalar: the line says which was used, and a reader goes by the line alone.
enum class Coding : uint8_t {
  Plain,     // values as they are
  Delta,     // each minus the one before
  Runs,      // values with run lengths; where those are short, a palette
  Palette,   // few distinct values; residuals go by the first palette of a kind
  Residual,  // minus a reference per entry of that palette
  GpuTime,   // stamps of the GPU's tick grid
  CallTime,  // start of the API call behind the row, told from the row's start
};

// What tables for people show of a column.
enum class Shown : uint8_t {
  Value,      // number, text of a dictionary, or word
  CodeName,   // likewise, of names that compilers may have mangled
  ScopePath,  // the scope of which it is the id
  Scaled,     // the number times ten to the power of the next column
  Exponent,   // that power
  Nothing,
};

// What it means that a row lacks a column, or holds the number that stands for that.
enum class Absence : uint8_t {
  Impossible,  // every row has it, and every number is one
  Default,     // the number is as good as any
  Unknown,     // nobody knows
  None,        // there is none
};

// What stands in memory for a time that is not known; in the log it is -1.
inline constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();

struct ColumnSpec {
  std::string_view name;
  std::string_view former_name;  // in logs of before; empty: it never had another
  ColumnType type = ColumnType::Integer;
  Coding coding = Coding::Plain;
  Dict dict = Dict::None;
  bool required = false;
  Absence absence = Absence::Impossible;
  Shown shown = Shown::Value;
  int64_t absent = 0;           // the number that a row holds in memory which lacks the column
  std::span<const Word> words;  // empty: numbers are numbers
  std::string_view title;       // what tables for people call it: "start_ns"
  std::string_view unit;        // of its numbers; empty: none
  std::string_view meaning;     // a part of a sentence, for people

  constexpr bool is_called(std::string_view key) const {
    return key == name || (!former_name.empty() && key == former_name);
  }
  constexpr bool is_time() const {
    return type == ColumnType::Time || type == ColumnType::Duration;
  }
  // Whether there can be rows of which it is not known, or which have none.
  constexpr bool may_lack() const {
    return absence == Absence::Unknown || absence == Absence::None;
  }
  // Whether a number of the log says so.
  constexpr bool is_lacking(int64_t number) const {
    return may_lack() && (is_time() ? number < 0 : number == absent);
  }
};

}  // namespace gpufl::format
