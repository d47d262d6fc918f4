// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

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

// Column numbers, in the order of the tables in schema.cpp.
namespace kernel_column {
enum : size_t {
  kStart,
  kDuration,
  kConfig,
  kDevice,
  kContext,
  kStream,
  kCorrelation,
  kApiStart,
  kApiDuration,
  kThread,
  kScope,
  kInherited,
  kStack,
  kQueued,
  kSubmitted,
  kGraph,
  kGraphNode,
  kExternal,
  kNodeStack,
  kCount
};
}
namespace memcpy_column {
enum : size_t {
  kStart,
  kDuration,
  kDevice,
  kContext,
  kStream,
  kCorrelation,
  kApiStart,
  kApiDuration,
  kThread,
  kScope,
  kInherited,
  kStack,
  kBytes,
  kDirection,
  kSourceKind,
  kTargetKind,
  kPeerDevice,
  kAsync,
  kGraphNode,
  kNodeStack,
  kCount
};
}
namespace memset_column {
enum : size_t {
  kStart,
  kDuration,
  kDevice,
  kContext,
  kStream,
  kCorrelation,
  kApiStart,
  kApiDuration,
  kThread,
  kScope,
  kInherited,
  kStack,
  kBytes,
  kValue,
  kMemoryKind,
  kGraphNode,
  kNodeStack,
  kCount
};
}
namespace sync_column {
enum : size_t {
  kStart,
  kDuration,
  kDevice,
  kContext,
  kStream,
  kCorrelation,
  kThread,
  kScope,
  kInherited,
  kStack,
  kCall,
  kEventId,
  kApiStart,
  kApiDuration,
  kCount
};
}
namespace memory_column {  // one row per allocation or release
enum : size_t {
  kTime,
  kDevice,
  kContext,
  kStream,
  kCorrelation,
  kApiStart,
  kApiDuration,
  kThread,
  kScope,
  kInherited,
  kStack,
  kOperation,
  kMemoryKind,
  kAddress,
  kBytes,
  kAsync,
  kPool,
  kPoolBytes,
  kCount
};
}
namespace graph_column {  // one row per launch of a graph
enum : size_t {
  kStart,
  kDuration,
  kDevice,
  kContext,
  kStream,
  kCorrelation,
  kApiStart,
  kApiDuration,
  kThread,
  kScope,
  kInherited,
  kStack,
  kGraph,
  kNodes,
  kEndDevice,
  kCount
};
}
namespace api_column {
enum : size_t {
  kStart,
  kDuration,
  kName,
  kCorrelation,
  kThread,
  kScope,
  kInherited,
  kStack,
  kResult,
  kContext,
  kError,
  kCount
};
}
namespace marker_column {
enum : size_t {
  kId,
  kShape,
  kStart,
  kDuration,
  kThread,
  kEndThread,
  kScope,
  kDomain,
  kName,
  kCategory,
  kColor,
  kPayload,
  kPayloadExponent,
  kCount
};
}
namespace scope_column {
enum : size_t {
  kId,
  kParent,
  kThread,
  kDepth,
  kName,
  kTag,
  kStart,
  kDuration,
  kRepeat,
  kWarmup,
  kEnding,
  kCount
};
}
namespace scope_open_column {
enum : size_t { kId, kParent, kThread, kDepth, kName, kTag, kStart, kRepeat, kWarmup, kCount };
}
namespace device_metric_column {
enum : size_t { kTime, kDevice, kIndex, kMetric, kValue, kCount };
}
namespace host_metric_column {
enum : size_t { kTime, kIndex, kMetric, kValue, kCount };
}
namespace process_column {
enum : size_t { kTime, kDevice, kPid, kName, kMemoryBytes, kCount };
}
namespace counter_column {
enum : size_t { kTime, kName, kValue, kCount };
}

namespace pc_sample_column {
enum : size_t {
  kTime,
  kDevice,
  kContext,
  kModule,
  kFunction,
  kPc,
  kStall,
  kSamples,
  kCorrelation,
  kScope,
  kCount
};
}
namespace sass_metric_column {
enum : size_t {
  kTime,
  kDevice,
  kContext,
  kModule,
  kFunction,
  kPc,
  kMetric,
  kValue,
  kCorrelation,
  kScope,
  kCount
};
}
namespace range_metric_column {
enum : size_t {
  kStart,
  kDuration,
  kDevice,
  kContext,
  kRange,
  kMetric,
  kValue,
  kExponent,
  kCorrelation,
  kPass,
  kScope,
  kCount
};
}
namespace pm_sample_column {
enum : size_t { kStart, kDuration, kDevice, kMetric, kValue, kExponent, kCount };
}
namespace warp_span_column {
enum : size_t {
  kStart,
  kDuration,
  kDevice,
  kLaunch,
  kCorrelation,
  kSm,
  kBlock,
  kGroup,
  kEvent,
  kGroupName,
  kPayload,
  kEnding,
  kError,
  kCount
};
}

namespace pending_column {  // one row per call or launch that did not end soon
enum : size_t {
  kTime,
  kFunction,
  kThread,
  kDevice,
  kCorrelation,
  kScope,
  kInherited,
  kStack,
  kCount
};
}

// marker.shape: what the program asked for.
enum class MarkerShape : int64_t { Mark = 0, PushPop = 1, StartEnd = 2 };

// memory.operation.
enum class MemoryOperation : int64_t { Allocate = 1, Release = 2 };

// scope.ending: how the scope came to its end.
enum class ScopeEnding : int64_t {
  Normal = 0,
  OutOfOrder = 1,   // ended while a scope opened inside it was still open
  OtherThread = 2,  // ended by another thread than the one that opened it
  ThreadExit = 3,   // its thread ended first
  Shutdown = 4,     // still open when the session ended
  Lost = 5,         // its end was dropped (ring full); the duration is an upper bound
};

}  // namespace gpufl::format
