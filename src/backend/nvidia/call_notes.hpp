// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// What callbacks note, independently of CUPTI's records: the ledger's proof per correlation id, the
// stack of a call, and, for a hang, what has begun and not ended. A note of a launch is made when
// the call returns, one of a wait when it begins.
namespace gpufl::backend {

enum class CallNoteKind : uint8_t {
  Launch,       // a kernel launch that returned without error; its record must come
  GraphLaunch,  // likewise of a graph: at least one record of its nodes, unless the graph is empty
  CallBegin,    // a wait, copy, fill or allocation has begun
  CallEnd,      // and has returned
  OwnCall,      // a call that the recorder made itself: no row tells of it
  // What the tracer keeps for itself: no call behind these.
  CudaInitialised,
  ContextDestroyed,
  ProfilerStart,
  ProfilerStop,
};

struct CallNote {
  int64_t time_ns;       // monotonic clock, when the call began
  uint32_t correlation;  // CUPTI's id: a runtime call and the driver call inside it share it
  uint32_t context;      // CUPTI's context id (contextUid)
  uint32_t thread;       // system thread id
  uint32_t stack;        // what StackRecorder::record() gave; 0: none
  uint32_t graph;        // of a graph launch: graph_exec_key() of what was launched
  uint16_t function;     // CUPTI's number of the function
  CallNoteKind kind;
  bool is_runtime = false;  // `function` is the runtime's, else the driver's
};
static_assert(sizeof(CallNote) == 32, "two notes to a cache line");

// A node of a graph came to be, with stacks on. Ids are those of GPU records (graphNodeId).
struct GraphNodeNote {
  uint64_t node;
  uint64_t original;  // the node that it is a copy of, with whose stack; 0: none
  uint32_t stack;     // of the call that made it; 0: none
};

}  // namespace gpufl::backend
