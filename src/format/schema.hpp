// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "format/columns.hpp"

// The kinds of line a log holds and, for those that come in batches, their columns: the code side
// of format/SPEC.md. Constant tables; any thread.
namespace gpufl::format {

inline constexpr int kFormatMajor = 1;

enum class Channel : uint8_t { Device, Scope, System, Code };
inline constexpr size_t kChannelCount = 4;
std::string_view to_string(Channel channel);  // also the file's stem: "device", "scope", ...

enum class Kind : uint8_t {
  // One JSON object each.
  Session,
  Clock,
  Capability,
  Device,
  Dict,
  Module,
  Source,
  Event,
  WarpLaunch,
  Ledger,
  End,
  // Batches: n rows as columns.
  Kernel,
  Memcpy,
  Memset,
  Sync,
  Memory,
  Graph,
  Api,
  Marker,
  Scope,
  ScopeOpen,
  DeviceMetric,
  HostMetric,
  Process,
  Counter,
  PcSample,
  SassMetric,
  RangeMetric,
  PmSample,
  WarpSpan,
  Pending,
};
inline constexpr size_t kKindCount = static_cast<size_t>(Kind::Pending) + 1;

// Whether the ledger counts lines of this kind: not those that frame a file or the session.
constexpr bool is_counted(Kind kind) {
  return kind != Kind::Session && kind != Kind::Dict && kind != Kind::Ledger && kind != Kind::End;
}

// What ids of a column refer to. Values are strings, but for Config, Stack and Frame, whose values
// are JSON objects.
enum class Dict : uint8_t { None, Name, Text, Metric, Config, Stack, Frame };
inline constexpr size_t kDictCount = static_cast<size_t>(Dict::Frame) + 1;
std::string_view to_string(Dict dict);

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
  Runs,      // values with run lengths
  Palette,   // few distinct values; residuals go by the first palette of a kind
  Residual,  // minus a reference per entry of that palette
  GpuTime,   // stamps of the GPU's tick grid
  CallTime,  // start of the API call behind the row, told from the row's start
};

struct ColumnSpec {
  std::string_view name;
  ColumnType type = ColumnType::Integer;
  Coding coding = Coding::Plain;
  Dict dict = Dict::None;
  bool required = false;
};

struct KindSpec {
  Kind kind;
  std::string_view name;  // the line's "type"
  Channel channel;
  std::span<const ColumnSpec> columns;  // empty: not a batch
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
