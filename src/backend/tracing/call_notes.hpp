// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/ticks.hpp"

// What callbacks note of the program's calls: when they began and ended, how they ended, their
// stack; the ledger's proof per correlation id, independent of the vendor's records; and, for a
// hang, what has begun and not ended. Most are noted when they return, waits and copies at both
// ends.
namespace gpufl::backend {

enum class CallNoteKind : uint8_t {
  Launch,       // a kernel launch that returned without error; its record must come
  GraphLaunch,  // likewise of a graph: at least one record of its nodes, unless the graph is empty
  Call,         // another call that is over: it failed, or a stream recorded what it launched
  CallBegin,    // a wait, copy, fill or allocation has begun
  CallEnd,      // and has returned without error
  External,     // the id that the program or a framework has pushed for the call that is noted next
  OwnCall,      // a call that the recorder made itself: no row tells of it
  // What the tracer keeps for itself: no call behind these.
  DriverInitialised,
  ContextDestroyed,
  ProfilerStart,
  ProfilerStop,
};

// Where there is none: in notes as in rows.
inline constexpr uint32_t kNoStreamId = UINT32_MAX, kNoEventId = UINT32_MAX;

struct CallNote {
  union {
    int64_t time_ns = 0;  // monotonic clock: when the call began; of CallEnd, when it returned
    uint64_t ticks;       // the same as callbacks note it (base/ticks.hpp), until place()
    uint64_t external;    // External: the id
  };
  uint32_t correlation = 0;  // the vendor's id: a runtime call and the driver's inside it share it
  uint32_t context = 0;      // the vendor's id
  union {
    uint32_t stack = 0;  // what StackRecorder::record() gave; 0: none
    uint32_t stream;     // CallEnd: the id of the stream that was waited for
  };
  union {
    uint32_t duration = 0;  // Launch, GraphLaunch and Call: see set_duration(); ticks until place()
    uint32_t event;         // CallEnd: which event was waited for, the same for the same one
  };
  union {
    uint32_t graph = 0;  // GraphLaunch: graph_exec_key() of what was launched
    uint32_t result;     // Call: the error; 0: none
  };
  uint16_t function = 0;  // the vendor's number of the outermost function
  CallNoteKind kind = CallNoteKind::Call;
  bool is_runtime : 1 = false;  // `function` is the runtime's, else the driver's
  bool is_long : 1 = false;     // `duration` counts kLongUnit
  static constexpr int64_t kLongUnit = int64_t{1} << 20;  // so that weeks fit

  bool has_duration() const {
    return kind == CallNoteKind::Launch || kind == CallNoteKind::GraphLaunch ||
           kind == CallNoteKind::Call;
  }
  void set_duration(int64_t ns_or_ticks) {
    is_long = ns_or_ticks > int64_t{UINT32_MAX};
    duration = static_cast<uint32_t>(is_long ? ns_or_ticks / kLongUnit : ns_or_ticks);
  }
  int64_t duration_ns() const { return is_long ? duration * kLongUnit : int64_t{duration}; }

  // From ticks to the monotonic clock, once.
  void place(const base::TickClock& clock) {
    if (kind == CallNoteKind::External) return;
    const uint64_t began = ticks;
    time_ns = clock.monotonic_ns(began);
    if (!has_duration()) return;
    const auto ended = began + static_cast<uint64_t>(duration_ns());  // ticks still
    set_duration(clock.monotonic_ns(ended) - time_ns);
  }
};
static_assert(sizeof(CallNote) == 32, "two notes to a cache line");

// A node of a graph came to be, with stacks on. Ids are those of GPU records (graphNodeId).
struct GraphNodeNote {
  uint64_t node;
  uint64_t original;  // the node that it is a copy of, with whose stack; 0: none
  uint32_t stack;     // of the call that made it; 0: none
};

}  // namespace gpufl::backend
