// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "format/column_spec.hpp"

// The kinds of line a log holds and, for those that come in batches, their columns: kinds.def as
// constant tables; any thread.
namespace gpufl::format {

inline constexpr int kFormatMajor = 1;

enum class Channel : uint8_t { Device, Scope, System, Code };
inline constexpr size_t kChannelCount = 4;
std::string_view to_string(Channel channel);  // also the file's stem: "device", "scope", ...

// Whether the ledger counts lines of this kind: not those that frame a file or the session.
constexpr bool is_counted(Kind kind) {
  return kind != Kind::Session && kind != Kind::Dict && kind != Kind::Ledger && kind != Kind::End;
}

std::string_view to_string(Dict dict);

struct KindSpec {
  Kind kind;
  std::string_view name;  // the line's "type"
  Channel channel;
  std::span<const ColumnSpec> columns;  // empty: not a batch
  // Its table in files that are exported and in Python; empty: it has none of its own.
  std::string_view file, frame;
  std::string_view sentence;  // for people
  bool is_batch() const { return !columns.empty(); }
};

const KindSpec& spec(Kind kind);
const KindSpec* find_kind(std::string_view name);  // nullptr: unknown

inline constexpr size_t kNoColumn = static_cast<size_t>(-1);
// The duration that belongs to a time: the column right after it, where that is a Duration.
size_t duration_of(const KindSpec& kind, size_t time_column);
// The time of a row as such: the first Time column.
size_t first_time(const KindSpec& kind);

}  // namespace gpufl::format
