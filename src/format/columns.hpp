// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Column numbers of the kinds that come in batches, in the order of the tables in schema.cpp, and
// the numbers that stand for words in some of them. Included through format/schema.hpp.
namespace gpufl::format {

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
  kStack,
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

// warp_span.ending: which of its two ends were recorded.
enum class WarpEnding : int64_t {
  Normal = 0,   // both
  Instant = 1,  // it has none: something that happened at `start`
  NoEnd = 2,    // it began at `start`; `dur` is 0
  NoBegin = 3,  // it ended at `start`; `dur` is 0
};

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
